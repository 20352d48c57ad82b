import { createServer } from "node:http";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { startTestManager, type TestManager, type Wire } from "../testing/test-manager.ts";

let manager: TestManager;
/** The manager probes its referees only when the test advances the time, so that no referee of a busy machine seems silent. */
let clock = manualClock();
let isSilent = false;
let port = 0;
/** The server that answers the health probes of all referees: with 503 if `isSilent`, otherwise with 200. */
const refereeServer = createServer((_request, response) => void response.writeHead(isSilent ? 503 : 200).end());

beforeEach(async () => {
  isSilent = false;
  port = await listenOnLoopback(refereeServer);
  clock = manualClock();
  const referees = { count: 1, firstPort: 9_001 };
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }], { referees }, () => {}, { clock });
});
afterEach(async () => {
  await manager?.stop();
  await new Promise<void>((resolve) => {
    refereeServer.close(() => resolve());
    refereeServer.closeAllConnections();
  });
});

const register = (name: string, token?: string, endpoint?: string): Promise<Wire> => {
  const ownEndpoint = `http://127.0.0.1:${port}/${name}`;
  return manager.tool("register_referee", { referee_name: name, endpoint: endpoint ?? ownEndpoint }, token);
};
const storedCount = (): number => Object.keys(manager.storedEndpoints()).length;

it("a manager with 99 referees accepts a new referee only in place of a silent one, and accepts every returning referee", async () => {
  const answers = await Promise.all(Array.from({ length: 99 }, (_, n) => register(`R${n}`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(["ACCEPTED"]));
  expect(await register("more")).toMatchObject({ status: "REJECTED", referee_id: null, error_code: "L002" });
  const { referee_id, auth_token } = answers[7];
  expect(await register("R7", auth_token)).toMatchObject({ status: "ACCEPTED", referee_id });
  expect(await register("expected", undefined, "http://127.0.0.1:9001/mcp")).toMatchObject({ status: "ACCEPTED" });
  expect(storedCount()).toBe(100);

  isSilent = true;
  const added = await vi.waitFor(async () => {
    await clock.advance(1_000);
    const answer = await register("late");
    expect(answer).toMatchObject({ status: "ACCEPTED" });
    return answer;
  }, WAIT_OPTIONS);
  expect(storedCount()).toBe(100);
  // The replaced referee is forgotten and registers as a new referee.
  const ids = Object.keys(manager.storedEndpoints());
  const forgotten = answers.findIndex((answer) => !ids.includes(answer.referee_id));
  const again = await register(`R${forgotten}`, answers[forgotten].auth_token);
  expect(again).toMatchObject({ status: "ACCEPTED", auth_token: answers[forgotten].auth_token });
  expect(again.referee_id).not.toBe(added.referee_id);
  expect(storedCount()).toBe(100);
});
