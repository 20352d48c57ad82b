import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, league, newFolder, root } from "../testing/processes.ts";

afterEach(cleanUp);

/** Writes the starter of a game with a replacement in its text. Returns its path. */
function newGame([from, to]: readonly [from: string, to: string]): string {
  const text = readFileSync(join(root, "scripts/starters/game/game.ts"), "utf8");
  expect(text).toContain(from);
  const file = join(newFolder(), "game.ts");
  writeFileSync(file, text.replace(from, to));
  return file;
}

describe("league play", () => {
  it("prints players, moves, the final position and the result, and repeats them with the same seed", async () => {
    const args = ["play", "random", "cycle", "--game", "rps", "--option", "best_of=3", "--seed", "7"];
    const [first, second] = await Promise.all([league(args), league(args)]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(second.stdout).toBe(first.stdout);
    expect(first.stdout).toMatch(
      /^rps\.v1 \(best_of=3\)\nplayer_1: random\nplayer_2: cycle\n\n1\. player_1 (rock|paper|scissors)\n2\. player_2 /,
    );
    expect(first.stdout).toMatch(/\n(random wins \(rounds won\)|cycle wins \(rounds won\)|draw)\n$/);
  });

  it("plays rock, paper, scissors as a best of nine rounds, and names its options also in the JSON document", async () => {
    const played = await league(["play", "cycle", "cycle", "--game", "rps"]);
    expect([played.code, played.stdout]).toEqual([0, expect.stringMatching(/^rps\.v1 \(best_of=9\)\n/)]);
    expect(played.stdout).toContain("\nRound 9: ");
    const { stdout } = await league(["play", "cycle", "cycle", "--game", "rps", "--option", "best_of=1", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ game: "rps.v1", options: { best_of: 1 }, moves: [{}, {}] });
  });

  it("names a bot after its file or, if it is called bot, after its folder, shortened if necessary", async () => {
    const folder = join(newFolder(), "a-folder-that-is-somewhere".repeat(4), "deep-below".repeat(10));
    mkdirSync(folder, { recursive: true });
    const longName = `${"long".repeat(40)}.ts`;
    for (const name of ["mine.ts", longName]) writeFileSync(join(folder, name), 'export default () => "rock";\n');
    const play = (first: string, second: string) => league(["play", first, second, "--game", "rps", "--seed", "7"]);
    const mine = join(folder, "mine.ts");
    const [two, same, named] = await Promise.all([
      play(mine, join(folder, longName)),
      play(mine, mine),
      play(`old one=${mine}`, mine),
    ]);
    expect(two).toMatchObject({ code: 0, stderr: "" });
    expect(two.stdout).toMatch(/\nplayer_1: mine\.ts\nplayer_2: (long){22}lo…\n/);
    expect(same.stdout).toMatch(/\nplayer_1: mine\.ts 1\nplayer_2: mine\.ts 2\n/);
    expect(named.stdout).toMatch(/\nplayer_1: old one\nplayer_2: mine\.ts\n/);
  });

  it.each([
    [["random", "cycle", "--option", "bestof=3"], '--option bestof: unknown option "bestof". Did you mean "best_of"?'],
    [["random", "cycle", "--option", "best_of"], "--option best_of: "],
    [["manual", "random"], "league play does not support manual players"],
  ])("names the wrong option or bot: %j", async (args, message) => {
    const { code, stdout, stderr } = await league(["play", ...args, "--game", "rps"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.startsWith(message), stderr).toBe(true);
  });

  it("plays the game that a bot exports, and no game that a bot does not play", async () => {
    const file = join(newFolder(), "marks.ts");
    writeFileSync(file, 'export const games = ["tic_tac_toe.v1"];\nexport default (turn) => turn.legal[0];\n');
    const played = await league(["play", file, "random"]);
    expect(played.stdout, played.stderr).toContain("x: marks.ts");
    const { code, stderr } = await league(["play", file, "random", "--game", "chess"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `${file} does not play chess.v1; it plays tic_tac_toe.v1\n`,
    });
  });

  it("prints each turn of both bots with --verbose: the view, the number of legal actions, the action and the time", async () => {
    const bot = join(newFolder(), "mine.ts");
    writeFileSync(
      bot,
      'export default ({ rejection }) => {\n  if (rejection === null) return "spock";\n  return "paper";\n};\n',
    );
    const { code, stderr } = await league([
      "play",
      bot,
      "cycle",
      "--game",
      "rps",
      "--option",
      "best_of=1",
      "--seed",
      "7",
      "--verbose",
    ]);
    expect(code, stderr).toBe(0);
    const lines = stderr.replaceAll(/\d+\.\d ms/g, "N ms").split("\n");
    expect(lines.filter((line) => line.startsWith("mine.ts: "))).toEqual([
      "mine.ts: tick 0 as player_1, 3 legal actions",
      "mine.ts:   Round 1: choose rock, paper or scissors.",
      'mine.ts: tick 0: "spock" after N ms',
      "mine.ts: tick 0 as player_1, 3 legal actions, again: illegal move: choose rock, paper or scissors",
      "mine.ts:   Round 1: choose rock, paper or scissors.",
      'mine.ts: tick 0: "paper" after N ms',
    ]);
    expect(lines).toContain('cycle: tick 0: "rock" after N ms');
  });

  it("ends with exit code 1 if a bot threw an error, with its name, and on stderr the error and its place", async () => {
    const bot = join(newFolder(), "mine.ts");
    writeFileSync(bot, "export default () => {\n  throw new Error('too hard');\n};\n");
    const { code, stdout, stderr } = await league(["play", bot, "random", "--game", "rps", "--seed", "7"]);
    expect(code).toBe(1);
    const fault = "player_1: the bot threw an error";
    expect(stdout.endsWith(`\n${fault}\nrandom wins (mine.ts: bot error)\n`), stdout).toBe(true);
    expect(stderr).toContain(`mine.ts: ${bot}:2:9: Error: too hard`);
  });

  it("terminates a program that does not end after its match", async () => {
    const folder = newFolder();
    const source = `import json, os, signal, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "turn":
        print(json.dumps({"action": "rock"}), flush=True)
with open("pid", "w") as file:
    file.write(str(os.getpid()))
signal.pause()
`;
    writeFileSync(join(folder, "bot.py"), source);
    const { code, stderr } = await league(["play", join(folder, "bot.py"), "cycle", "--game", "rps"]);
    expect(code, stderr).toBe(0);
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("ends with exit code 3 if a program does not start, also if its error comes after the start of the match", async () => {
    const folder = newFolder();
    const source = `import os, sys
if os.path.exists("started"):
    raise RuntimeError("no start")
open("started", "w").close()
sys.stdin.readline()
sys.exit(1)
`;
    writeFileSync(join(folder, "bot.py"), source);
    const { code, stdout, stderr } = await league(["play", join(folder, "bot.py"), "cycle", "--game", "rps"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("bot.py ended with code 1 when it was started\n");
    expect(stderr).toContain("RuntimeError: no start\n");
  });

  it("aborts the match and names the game file if a score of the outcome is not a number", async () => {
    const game = newGame(["[winner]: 1", "[winner]: Number.NaN"]);
    const { code, stdout, stderr } = await league(["play", "cycle", "cycle", "--game", game]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${game}:38: outcome returns a score that is not a finite number: NaN for `);
    expect(stdout).toContain("\naborted (the referee could not play the match; its log has the cause)\n");
    const [, logs = ""] = /\nthe log of the referee is in (.*)\n/.exec(stderr) ?? [];
    expect(readFileSync(join(logs, "Referee%201.log"), "utf8")).toContain(
      "returns a score that is not a finite number",
    );
    rmSync(join(logs, "../../.."), { recursive: true });
  });

  it("has the time limit of a move of --move-ms", async () => {
    const bot = join(newFolder(), "bot.ts");
    writeFileSync(bot, "export default () => new Promise(() => setInterval(() => {}, 1_000));\n");
    const { code, stdout } = await league(["play", bot, "random", "--game", "rps", "--move-ms", "300"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nplayer_1: no answer within 300 ms\nrandom wins \(.*\)\n$/);
  });

  it("prints why a move is illegal, and the answer of the bot", async () => {
    const bot = join(newFolder(), "mine.ts");
    writeFileSync(bot, "export default ({ role }) => ['spock', role].join(', says ');\n");
    const { code, stdout } = await league(["play", bot, "random", "--game", "rps", "--seed", "7"]);
    expect(code).toBe(0);
    const fault = "player_1: illegal move: choose rock, paper or scissors; its answer was spock, says player_1";
    expect(stdout.endsWith(`\n${fault}\nrandom wins (mine.ts: illegal move)\n`), stdout).toBe(true);
  });
});
