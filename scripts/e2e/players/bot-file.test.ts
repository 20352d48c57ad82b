import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, league, newFolder, processesIn, STACK_LINE, start } from "../../testing/processes.ts";
import { documentOf, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const RPS = [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }];
/** A bot that always loses against paper. */
const ROCK = 'export default () => "rock";\n';

/** Bots in each form of player/sdk.ts. Each of them plays paper. */
const forms: Readonly<Record<string, string>> = {
  "a function of the turn": `
import type { Bot } from "${new URL("../../../player/sdk.ts", import.meta.url).pathname}";
export default ((turn) => turn.legal.find((action) => action === "paper")) satisfies Bot<"rps.v1">;
`,
  "a function without parameters": 'export default () => "paper";\n',
  "an object": "export default { async choose(turn: { legal: string[] }) { return turn.legal[1]; } };\n",
  "a factory of objects": `
export default () => {
  let matches = 0;
  let next: string | undefined;
  return {
    start(info: { game: string }) { matches++; next = info.game === "rps.v1" && matches === 1 ? "paper" : "scissors"; },
    choose() { return next; },
    end() { next = undefined; },
  };
};
`,
};

describe("a bot file", () => {
  it("plays a league in each of the forms of bots", async () => {
    const sources = Object.values(forms).map((source, index) => [`bot-${index + 1}.ts`, source] as const);
    const files = { ...Object.fromEntries(sources), "rock.js": ROCK };
    const bots = [...sources.map(([name]) => `./${name}`), "./rock.js"];
    const test = await testLeague(bots, RPS, { files });
    const ended = await league(["run", test.file, "--json", "--quiet"]);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
    const matches = documentOf(ended).leagues[0]?.matches ?? [];
    expect(matches).toHaveLength(10);
    for (const match of matches) {
      expect(match.termination).toBe("normal");
      const [paper, other] = Object.values(match.roles).sort();
      expect(match.winner).toBe(other === "P05" ? paper : null);
    }
  });

  it.each([
    "my-bot.ts",
    "my-bot.js", // Node reports no line for its syntax errors
  ])("with a syntax error ends the run with exit code 3 and names the line of the error: %s", async (name) => {
    const files = { [name]: 'export default (turn) => {\n  return "rock";\n  const = 5;\n};\n' };
    const test = await testLeague([`./${name}`, "cycle"], RPS, { files });
    const { code, stdout, stderr } = await league(["run", test.file, "--json"]);
    expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^Player1: .*${join(test.folder, name)}:3(:\\d+)?: SyntaxError: `, "m"));
    expect(stderr).not.toMatch(STACK_LINE);
    expect(processesIn(test.folder)).toEqual([]);
  });

  it.each([
    [
      "that throws while it loads",
      'const a = 1;\n\nthrow new Error("not today");\nexport default a;\n',
      "my-bot.ts:3:7: Error: not today",
    ],
    ["that imports a missing file", 'import "../../none.ts";\nexport default () => "rock";\n', "none.ts"],
    ["without a default export", "export const choose = () => 1;\n", "default export must be"],
    ["whose default export is not a bot", "export default 5;\n", "default export must be"],
  ])("%s ends the run with exit code 3", async (_fault, source, message) => {
    const test = await testLeague(["./my-bot.ts", "cycle"], RPS, { files: { "my-bot.ts": source } });
    const { code, stderr } = await league(["run", test.file, "--quiet"]);
    expect(code, stderr).toBe(3);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(STACK_LINE);
  });

  it("that ends its process while it loads ends the run with exit code 3 and names the player", async () => {
    const test = await testLeague(["./my-bot.ts", "cycle"], RPS, { files: { "my-bot.ts": "process.exit(0);\n" } });
    const { code, stdout, stderr } = await league(["run", test.file, "--quiet"]);
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: "",
      stderr: `Player1: ${join(test.folder, "my-bot.ts")} does not load: the bot's process ended with code 0\nPlayer1 ended with code 3\n`,
    });
    expect(processesIn(test.folder)).toEqual([]);
  });

  it("of another game than that of the league ends the run, because its registration is rejected", async () => {
    const files = { "my-bot.ts": 'export const games = ["rps.v1"];\nexport default () => "rock";\n' };
    const chess = [{ league_id: "chess", game: "chess.v1" }];
    const test = await testLeague(["./my-bot.ts", "random", "greedy"], chess, { files });
    const { code, stderr } = await league(["run", test.file, "--quiet"]);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(
      /^Player1: registration was rejected: no league of your games is open: the leagues play chess/m,
    );
    expect(stderr).toMatch(/^Player1 ended with code 1 before it had registered$/m);
    expect(stderr).not.toContain("it is started again");
  });

  it.each([
    ["./bots/none.ts", /: no such file: bots\/none\.ts\. The path is relative to the folder of the config, \//],
    ["no-such-bot", /: no bot "no-such-bot": use /],
  ])(
    "that does not exist ends the run with exit code 3 and names the position in the config: %s",
    async (bot, message) => {
      const test = await testLeague([bot, "cycle"], RPS);
      const { code, stderr } = await league(["run", test.file, "--quiet"]);
      expect(code, stderr).toBe(3);
      expect(stderr).toMatch(/league\.json:\d+:\d+ players\[0\]\.bot: no /);
      expect(stderr).toMatch(message);
    },
  );

  it("that throws in a match loses by forfeit, the terminal shows the line, and the league continues", async () => {
    const source = 'export default () => ({\n  choose() {\n    throw new RangeError("too far");\n  },\n});\n';
    const test = await testLeague(["./my-bot.ts", "cycle", "random"], RPS, { files: { "my-bot.ts": source } });
    const ended = await league(["run", test.file, "--json"]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(`Player1: ${join(test.folder, "my-bot.ts")}:3:11: RangeError: too far`);
    const [played] = documentOf(ended).leagues;
    expect(played?.matches).toHaveLength(3);
    for (const match of played?.matches ?? []) {
      const ids = Object.values(match.roles);
      const other = ids.find((id) => id !== "P01");
      if (!ids.includes("P01")) expect(match.termination).toBe("normal");
      else expect(match).toMatchObject({ termination: "forfeit", winner: other, points: { P01: 0, [other ?? ""]: 3 } });
    }
    expect(played?.standings.at(-1)).toMatchObject({ player_id: "P01", losses: 2, points: 0 });
  });

  it("that returns an invalid action or throws a value that is not an Error loses by forfeit", async () => {
    const files = {
      "nonsense.ts": "export default () => ({ no: [1n.toString(), undefined] });\n",
      "thrown.ts": 'export default { choose() { throw "a text"; } };\n',
    };
    const test = await testLeague(["./nonsense.ts", "./thrown.ts", "cycle"], RPS, { files });
    const ended = await league(["run", test.file, "--json"]);
    expect(ended.code, ended.stderr).toBe(0);
    const matches = documentOf(ended).leagues[0]?.matches ?? [];
    expect(matches.map((match) => match.termination)).toEqual(["forfeit", "forfeit", "forfeit"]);
    for (const match of matches) {
      expect(match.winner).toBe(Object.values(match.roles).includes("P03") ? "P03" : null);
    }
    expect(ended.stderr).toContain(`Player2: ${join(test.folder, "thrown.ts")}: threw a text`);
  });
});

describe("a bot file that does not finish loading", () => {
  const ENDLESS = "Look for a loop or an await that does not end at its top level";

  it.each([
    ["because of a loop", "while (true);\n"],
    ["because of an await", "setInterval(() => {}, 1_000); await new Promise(() => {});\n"],
  ])("is named at the terminal of its player (%s)", async (_, source) => {
    const file = join(newFolder(), "endless.ts");
    writeFileSync(file, source);
    const player = start("scripts/league.ts", ["join", file, "--data", dirname(file)]);
    const line = await player.line(/does not finish loading/);
    expect(line).toBe(`player-${player.pid}: ${file} does not finish loading. ${ENDLESS}`);
    player.signal("SIGINT");
    await player.ended;
  });

  it("is named at the terminal of a run", async () => {
    const test = await testLeague(["./endless.ts", "cycle"], RPS, { files: { "endless.ts": "while (true);\n" } });
    const run = start("scripts/league.ts", ["run", test.file]);
    const line = await run.line(/does not finish loading/);
    expect(line).toBe(`Player1: ${join(test.folder, "endless.ts")} does not finish loading. ${ENDLESS}`);
    run.signal("SIGINT");
    await run.ended;
  });
});
