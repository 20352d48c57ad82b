import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, documentOf, eventually, RPS, root, run, testLeague } from "./testing.ts";

afterEach(cleanUp);

const ROCK = "export default () => 'rock';\n";
const FORGED = { leagues: [{ league_id: "rps", matches: [], standings: [{ rank: 1, display_name: "Mallory" }] }] };

describe("a bot that speaks to the command which started it", () => {
  it.each([
    [
      "forges the end of the run",
      `process.send({ type: "event", event: ${JSON.stringify({ type: "all_completed", document: FORGED })} });\n`,
    ],
    [
      "reports nonsense",
      'process.send(null); process.send({ type: "event" }); process.send({ type: "ready", url: 7 });\n',
    ],
    ["prints a line without an end", 'for (let i = 0; i < 200; i++) process.stdout.write("x".repeat(10_000));\n'],
  ])(
    "%s: the league is played as if it had not",
    async (_, code) => {
      const files = { "mallory.ts": `${code}${ROCK}` };
      const test = await testLeague(["./mallory.ts", "cycle", "random"], RPS, { files });
      const ended = await run(test, "--json").ended;
      expect(ended.code, ended.stderr).toBe(0);
      const [league] = documentOf(ended).leagues;
      expect(league?.matches.map((one) => one.termination)).toEqual(["normal", "normal", "normal"]);
      expect(league?.standings.map((row) => row.display_name).sort()).toEqual(["Player1", "Player2", "Player3"]);
      expect(ended.stderr.length).toBeLessThan(10_000);
    },
    30_000,
  );

  it("prints what a terminal would obey: it is shown without", async () => {
    const files = { "mallory.ts": `console.log("\\x1b]0;pwned\\x07\\x1b[2Jhello\\x9b5n");\n${ROCK}` };
    const test = await testLeague(["./mallory.ts", "cycle"], RPS, { files });
    const { stderr } = await run(test).ended;
    expect(stderr).toMatch(/^Player1: .*hello/m);
    expect(stderr.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  }, 30_000);
});

describe("a stranger who takes all connections that a league's processes may have", () => {
  it("delays it: no match is lost, aborted or played again", async () => {
    const slow =
      'import { setTimeout } from "node:timers/promises";\nexport default async ({ legal, random }) => {\n  await setTimeout(40);\n  return random.pick(legal);\n};\n';
    const test = await testLeague(
      ["./slow.ts", "./slow.ts"],
      [{ league_id: "rps", game: "rps.v1", options: { best_of: 99 } }],
      {
        files: { "slow.ts": slow },
      },
    );
    const league = spawn(
      "sh",
      ["-c", `ulimit -n 400 && exec "${process.execPath}" scripts/league.ts run "${test.file}" --json --quiet`],
      { cwd: root, stdio: ["ignore", "pipe", "pipe"] },
    );
    let stdout = "";
    let stderr = "";
    league.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    league.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null>((resolve) => league.once("close", resolve));
    const open = (port: number): Promise<Socket | null> =>
      new Promise((resolve) => {
        const socket = connect(port, "127.0.0.1", () => resolve(socket)).on("error", () => resolve(null));
      });
    await eventually("the referee to listen", async () => {
      const socket = await open(test.port + 1);
      socket?.destroy();
      return socket !== null;
    });
    const hold = [test.port, test.port + 1].flatMap((port) => Array.from({ length: 600 }, () => open(port)));
    const held = await Promise.all(hold);
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // that long it has them
    for (const socket of held) socket?.destroy();
    expect(await ended, stderr).toBe(0);
    expect(documentOf({ code: 0, signal: null, stdout, stderr }).leagues[0]?.matches).toMatchObject([
      { termination: "normal", referee_id: "REF01" },
    ]);
    expect(stderr).not.toContain("started again");
  }, 60_000);
});
