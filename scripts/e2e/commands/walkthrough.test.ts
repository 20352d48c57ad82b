import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../../../referee/rest/testing/host.ts";

/** Returns the code blocks of a document in one language, unchanged. */
const blocks = (file: string, language: string): string => {
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, block]) => block).join("\n");
};
const script = blocks("docs/rest.md", "sh");

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

/** Runs lines in a shell. With SHLVL 1 bash would treat a socket on stdin as a remote login and read /etc/bash.bashrc. */
const runScript = (shell: string, lines: string) =>
  promisify(execFile)(shell, ["-eu", "-c", lines], { env: { ...process.env, HOST: host.url, SHLVL: "2" } });

it.each(["bash", "sh"])("the commands in docs/rest.md play both games: %s", async (shell) => {
  const { stdout, stderr } = await runScript(shell, script);
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

it.each(["bash", "sh"])("the commands in docs/codenames.md play without sampling and over REST: %s", async (shell) => {
  const { stdout, stderr } = await runScript(shell, blocks("docs/codenames.md", "sh"));
  expect(stderr).toBe("");
  const toolResults = ["blue_spymaster", "blue_team", "your_turn", "waiting_for_opponent"];
  const guessResults = ["red guesses for ZXQWV 2, 3 guesses left.", "guess"];
  expect(stdout.trim().split("\n")).toEqual([...toolResults, ...guessResults, "1", "true", "8", "blue"]);
});

it.each(["llm,llm,llm,llm", "llm,user,llm,llm", "user,user,user,user"])(
  "the MCP host in docs/codenames.md plays a game to the end: %s",
  async (PLAYERS) => {
    const args = ["--input-type=module", "-e", blocks("docs/codenames.md", "js")];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
      cwd: fileURLToPath(new URL("../../..", import.meta.url)),
      env: { ...process.env, HOST: host.url, PLAYERS },
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^The game is over: team (red|blue) wins/);
  },
);
