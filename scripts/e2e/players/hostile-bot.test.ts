import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, eventually, processesIn, start } from "../../testing/processes.ts";
import { documentOf, RPS, run, runFolders, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** Sends a message to the player through the pipe of the process of the bot. */
const SEND = 'import { writeSync } from "node:fs"; const send = (text) => writeSync(4, text + "\\n");';
const ROCK = "export default () => 'rock';\n";

it("forged messages, long output and control characters of bots do not affect their league or the terminal", async () => {
  const forged = JSON.stringify({ type: "event", event: { type: "all_completed" } });
  const files = {
    "forger.ts": `${SEND} send('${forged}');\n${ROCK}`,
    "babbler.ts": `${SEND} send("null"); send('{ "type": "event" }'); send('{ "type": "ready", "url": 7 }'); send("{");\n${ROCK}`,
    "endless.ts": `for (let i = 0; i < 200; i++) process.stdout.write("x".repeat(10_000));\n${ROCK}`,
    "painter.ts": `console.log("\\x1b]0;pwned\\x07\\x1b[2Jhello\\x9b5n");\n${ROCK}`,
  };
  const bots = Object.keys(files).map((file) => `./${file}`);
  const test = await testLeague(bots, RPS, { files });
  const ended = await run(test, "--json").ended;
  expect(ended.code, ended.stderr).toBe(0);
  const [league] = documentOf(ended).leagues;
  expect(league?.matches.map((one) => one.termination)).toEqual(Array(6).fill("normal"));
  expect(league?.standings.map((row) => row.display_name).sort()).toEqual(bots.map((_, n) => `Player${n + 1}`));
  expect(ended.stderr).toMatch(/^Player4: .*hello/m);
  expect(ended.stderr.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  expect(ended.stderr.length).toBeLessThan(10_000);
});

describe("league run", () => {
  it("creates files that only its user can read, and hides its environment variables from bots", async () => {
    const files = {
      "nosy.ts": `console.log(Object.keys(process.env).filter((name) => /^league__/i.test(name)));\n${ROCK}`,
    };
    const test = await testLeague(["./nosy.ts", "cycle"], RPS, { files });
    const env = { LEAGUE__MANAGER__OPERATOR_TOKEN: "a token of sixteen characters" };
    const { code, stderr } = await start("scripts/league.ts", ["run", test.file], env).ended;
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("Player1: []");
    const [folder = ""] = runFolders(test);
    const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
    expect(paths.length).toBeGreaterThan(8);
    expect([folder, ...paths].filter((name) => (statSync(name).mode & 0o077) !== 0)).toEqual([]);
  });
});

it("a bot that blocks its event loop ends after a kill of its run", async () => {
  const files = { "spin.ts": "export default (turn) => { console.log('spinning'); for (;;) turn.role; };\n" };
  const test = await testLeague(["./spin.ts", "cycle"], RPS, { files });
  const league = run(test);
  await league.line(/^Player1: spinning/);
  league.signal("SIGKILL");
  await league.ended;
  await eventually("the end of all agents", () => processesIn(test.folder).length === 0);
});
