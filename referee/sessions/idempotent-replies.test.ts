import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { startTestHost, type TestAgent, type TestHost } from "../rest/testing/host.ts";
import { databaseOf, observe } from "../rest/testing/observer.ts";

it("replies to requests with an idempotency key are stored for a week", async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), "replies-"));
  const first = await startTestHost({ dataFolder });
  const [ann, bob] = [await first.agent(), await first.agent()];
  const begin = async (host: TestHost, { token }: TestAgent, key: string): Promise<string> => {
    const participants = { player_1: ann.agent_id, player_2: bob.agent_id };
    const body = { template: "rps.v1", participants };
    return (await host.call("POST", "/sessions", { token, body, headers: { "idempotency-key": key } })).json.session_id;
  };
  const [old, recent] = [await begin(first, ann, "old"), await begin(first, ann, "recent")];
  await first.stop();
  const db = new DatabaseSync(databaseOf(first));
  const age = db.prepare("UPDATE replies SET created_at = datetime('now', ?) WHERE idempotency_key = ?");
  age.run("-8 days", "old");
  age.run("-6 days", "recent");
  db.close();
  const second = await startTestHost({ dataFolder, port: first.port });
  try {
    // The removal was queued at the start, so it is written before this agent.
    await second.agent();
    const keys = observe(second).rows("SELECT idempotency_key AS key FROM replies");
    expect(keys).toEqual([{ key: "recent" }]);
    expect(await begin(second, ann, "recent")).toBe(recent);
    expect(await begin(second, ann, "old")).not.toBe(old);
  } finally {
    await second.remove();
  }
});
