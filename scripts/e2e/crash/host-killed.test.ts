import type { DatabaseSync } from "node:sqlite";
import { afterEach, expect, it } from "vitest";
import { replay } from "#shared/session/replay.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { SESSION_SCHEMA, sessionStore } from "../../../referee/sessions/session-store.ts";
import { startKillableHost } from "../../testing/killable-host.ts";
import { cleanUp } from "../../testing/processes.ts";

afterEach(cleanUp);

it("a killed host has every acknowledged action exactly once, and its clients continue by repeating their requests", async () => {
  const host = await startKillableHost();
  const { url, database } = host;
  const post = async (path: string, token: string, body: object, key?: string) => {
    const headers = { authorization: `Bearer ${token}`, ...(key && { "idempotency-key": key }) };
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  const agent = async () => (await post("/agents", "", {})).json as { agent_id: string; token: string };
  const [one, two] = [await agent(), await agent()];
  const participants = { player_1: one.agent_id, player_2: two.agent_id };
  const created = await post("/sessions", one.token, { template: "rps.v1", participants, options: { best_of: 99 } });
  const path = `/sessions/${created.json.session_id}/actions`;

  const acknowledged = new Map<string, number>();
  /** Plays `rounds` rounds of a seat. A request without an answer is repeated with the same idempotency key. */
  const play = async (role: string, token: string, rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; ) {
      const key = `${role}-${round}`;
      const answer = await post(path, token, { action: "rock" }, key).catch(() => null);
      if (answer?.status === 200) {
        acknowledged.set(key, answer.json.tick);
        round++;
      } else if (answer)
        expect(answer.json.error.code).toBe("ALREADY_ACTED"); // the other seat has not chosen yet
      else await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const playing = Promise.all([play("player_1", one.token, 40), play("player_2", two.token, 40)]);
  for (const count of [10, 35, 60]) {
    while (acknowledged.size < count) await new Promise((resolve) => setImmediate(resolve));
    await host.kill();
  }
  await playing;
  await host.stop();

  const db: DatabaseSync = openSqlite(database, SESSION_SCHEMA);
  const store = sessionStore(db, testWriter(db));
  const rows = store.log.read(created.json.session_id);
  expect(rows).toHaveLength(1 + 80);
  expect([...acknowledged.values()].sort((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
  expect(replay(rows, store.about(created.json.session_id)?.seed ?? "")).toMatchObject({
    ok: true,
    value: { tick: 80 },
  });
  db.close();
});
