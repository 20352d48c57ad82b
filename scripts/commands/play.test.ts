import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, league, newFolder } from "../testing/processes.ts";

afterEach(cleanUp);

describe("league play", () => {
  it("prints players, moves, the end and the result, the same for one seed", async () => {
    const args = ["play", "random", "cycle", "--game", "rps", "--option", "best_of=3", "--seed", "7"];
    const [one, again] = await Promise.all([league(args), league(args)]);
    expect(one).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).toBe(one.stdout);
    expect(one.stdout).toMatch(
      /^player_1: random\nplayer_2: cycle\n\n1\. player_1 (rock|paper|scissors)\n2\. player_2 /,
    );
    expect(one.stdout).toMatch(/\n(random wins \(rounds won\)|cycle wins \(rounds won\)|draw)\n$/);
  }, 30_000);

  it("calls a bot by its file's name, wherever the file lies and however long its name is", async () => {
    const folder = join(newFolder(), "a-folder-that-is-somewhere".repeat(4), "deep-below".repeat(10));
    mkdirSync(folder, { recursive: true });
    const long = `${"long".repeat(40)}.ts`;
    for (const name of ["bot.ts", long]) writeFileSync(join(folder, name), 'export default () => "rock";\n');
    const play = (first: string, second: string) => league(["play", first, second, "--game", "rps", "--seed", "7"]);
    const bot = join(folder, "bot.ts");
    const [two, same] = await Promise.all([play(bot, join(folder, long)), play(bot, bot)]);
    expect(two).toMatchObject({ code: 0, stderr: "" });
    expect(two.stdout).toMatch(/^player_1: bot\.ts\nplayer_2: (long){22}lo…\n/);
    expect(same.stdout).toMatch(/^player_1: bot\.ts 1\nplayer_2: bot\.ts 2\n/);
  }, 30_000);

  it.each([
    [["random", "cycle", "--option", "bestof=3"], '--option bestof: unknown option "bestof". Did you mean "best_of"?'],
    [["random", "cycle", "--option", "best_of"], "--option best_of: "],
    [["manual", "random"], "play has no manual players"],
  ])("says what cannot be, in the command's own words: %j", async (args, told) => {
    const { code, stdout, stderr } = await league(["play", ...args, "--game", "rps"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.startsWith(told), stderr).toBe(true);
  });

  it("says that a bot threw an error, and on stderr which one and where, without the wire's words", async () => {
    const bot = join(newFolder(), "bot.ts");
    writeFileSync(bot, "export default () => {\n  throw new Error('too hard');\n};\n");
    const { code, stdout, stderr } = await league(["play", bot, "random", "--game", "rps", "--seed", "7"]);
    expect(code).toBe(0);
    const fault = "player_1: answered GAME_ERROR: the bot threw an error";
    expect(stdout.endsWith(`\n${fault}\nrandom wins (bad reply)\n`), stdout).toBe(true);
    expect(stderr).toContain(`bot.ts: ${bot}:2:9: Error: too hard`);
  }, 30_000);

  it("says what was wrong with an illegal move, and what the bot had answered", async () => {
    const bot = join(newFolder(), "bot.ts");
    writeFileSync(bot, "export default ({ role }) => ['spock', role].join(', says ');\n");
    const { code, stdout } = await league(["play", bot, "random", "--game", "rps", "--seed", "7"]);
    expect(code).toBe(0);
    const fault = "player_1: illegal move: choose rock, paper or scissors; its answer was spock, says player_1";
    expect(stdout.endsWith(`\n${fault}\nrandom wins (illegal move)\n`), stdout).toBe(true);
  }, 30_000);
});
