import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../referee/rest/testing-host.ts";

/** The README's walk-through of the session host: its `sh` blocks, exactly as they stand there. */
const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const script = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join("\n");

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

it.each(["bash", "sh"])("the README's lines play both games: %s", async (shell) => {
  const { stdout, stderr } = await promisify(execFile)(shell, ["-eu", "-c", script], {
    env: { ...process.env, HOST: host.url },
  });
  expect(stderr).toBe("");
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [rock, seen, paper, log, ...chess] = answers;
  expect(rock).toMatchObject({ tick: 1, state: { phase: "commit" }, status: "active" });
  expect(seen).toMatchObject({ tick: 1, your_role: "player_2", state: { choices: { player_1: null } } });
  expect(paper).toMatchObject({ tick: 2, state: { result: "player_2_wins" }, status: "completed" });
  expect(log.actions).toMatchObject([{ action: "rock" }, { action: "paper" }]);
  expect(chess).toMatchObject([
    { tick: 1 },
    { error: { code: "INVALID_ACTION", message: "Not your turn" } },
    { tick: 2 },
    { error: { code: "CONFLICT" } },
    { tick: 3 },
    { tick: 4, status: "completed", state: { outcome: { winner: "black", reason: "checkmate" } } },
    { tick: 4, status: "completed", state: { outcome: { winner: "black", reason: "checkmate" } } },
    { sessions: [{ tick: expect.any(Number) }, { tick: expect.any(Number) }] },
  ]);
});
