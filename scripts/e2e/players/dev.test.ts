import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, eventually, league, newFolder, processesIn, start } from "../../testing/processes.ts";

afterEach(cleanUp);

/** Starts `league dev` and collects its output. */
function startDev(file: string, ...args: readonly string[]) {
  const rest = args.length > 0 ? args : ["cycle", "--game", "rps", "--option", "best_of=1"];
  const running = start("scripts/league.ts", ["dev", file, ...rest]);
  let stdout = "";
  running.stdout.on("data", (text: string) => {
    stdout += text;
  });
  /** Resolves with the output of the nth match when the command waits for the next save. */
  const matchAfter = async (saves: number): Promise<{ stdout: string; stderr: string }> => {
    const waits = (): number => running.stderr().split("waiting for a change of").length - 1;
    await eventually(`the end of match ${saves + 1}`, () => waits() > saves);
    const match = { stdout, stderr: running.stderr() };
    stdout = "";
    return match;
  };
  return { running, matchAfter };
}

describe("league dev", () => {
  it("plays the same match again when the bot or a file that it imports is saved, and ends with Ctrl-C", async () => {
    const folder = newFolder();
    const file = join(folder, "my-bot.ts");
    const bot = (choice: string): string => `import { choice } from "./choice.ts";\nexport default () => ${choice};\n`;
    writeFileSync(file, bot("choice"));
    writeFileSync(join(folder, "choice.ts"), 'export const choice = "rock";\n');
    const { running, matchAfter } = startDev(file);
    const first = await matchAfter(0);
    expect(first.stdout).toMatch(
      /^rps\.v1 \(best_of=1\)\nplayer_1: my-bot\.ts\nplayer_2: cycle\n\n1\. player_1 rock\n2\. player_2 rock\n/,
    );
    expect(first.stderr).toMatch(/waiting for a change of choice\.ts, my-bot\.ts; Ctrl-C ends$/m);

    writeFileSync(join(folder, "choice.ts"), 'export const choice = "paper";\n');
    expect((await matchAfter(1)).stdout).toContain("1. player_1 paper\n2. player_2 rock\n");

    // Many editors write another file and rename it.
    writeFileSync(join(folder, "my-bot.ts~"), bot('"scissors"'));
    renameSync(join(folder, "my-bot.ts~"), file);
    expect((await matchAfter(2)).stdout).toContain("1. player_1 scissors\n2. player_2 rock\n");

    writeFileSync(file, "export default () => {\n  return 5 +;\n};\n");
    const faulty = await matchAfter(3);
    expect(faulty.stdout).toBe("");
    expect(faulty.stderr).toMatch(new RegExp(`${file}:2(:\\d+)?: SyntaxError: `));

    writeFileSync(file, bot("choice"));
    expect((await matchAfter(4)).stdout).toContain("1. player_1 paper\n2. player_2 rock\n");

    running.signal("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect(processesIn(folder)).toEqual([]);
  });

  it("plays the match again when the file of its game is saved", async () => {
    const folder = join(newFolder(), "my-game");
    expect((await league(["new-game", folder])).code).toBe(0);
    const [bot, game] = [join(folder, "bot.ts"), join(folder, "game.ts")];
    const { running, matchAfter } = startDev(bot, "random", "--game", game, "--seed", "7");
    const first = await matchAfter(0);
    expect(first.stdout).toMatch(
      /^my_game\.v1 \(heap=5\)\nfirst_player: my-game\n(.*\n)+my-game wins \(last taken\)\n$/,
    );
    expect(first.stderr).toMatch(/waiting for a change of bot\.ts, game\.ts; Ctrl-C ends$/m);
    writeFileSync(game, readFileSync(game, "utf8").replace('"last_taken"', '"last_stick"'));
    expect((await matchAfter(1)).stdout).toMatch(/my-game wins \(last stick\)\n$/);
    running.signal("SIGINT");
    await running.ended;
  });

  it("ends a match that goes on when the bot is saved", async () => {
    const file = join(newFolder(), "bot.py");
    writeFileSync(file, "import sys\nfor line in sys.stdin: print('read', file=sys.stderr, flush=True)\n");
    const { running, matchAfter } = startDev(file);
    await running.line(/: play R1M1: read$/);
    writeFileSync(file, 'input()\ninput()\nprint(\'{"action": "paper"}\', flush=True)\ninput()\n');
    expect((await matchAfter(0)).stdout).toContain("1. player_1 paper\n2. player_2 rock\n");
    running.signal("SIGINT");
    await running.ended;
  });

  it.each([
    [["./none.ts"], 3, "./none.ts: no such file\n"],
    [
      ["greedy"],
      2,
      "greedy is not the file of a bot: give a .ts, .js, .py or .go file, an executable file such as ./bot\n",
    ],
  ])("names the wrong bot: %j", async (args, code, stderr) => {
    expect(await league(["dev", ...args, "--game", "rps"])).toMatchObject({ code, stdout: "", stderr });
  });
});
