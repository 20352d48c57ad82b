import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, league, newFolder } from "../testing/processes.ts";

afterEach(cleanUp);

/** Writes the starter of a game into a new folder. Returns the file of the game, and a function that changes its text. */
async function newGame(): Promise<{ file: string; change: (from: string, to: string) => void }> {
  const path = join(newFolder(), "stick-game");
  const { code, stdout, stderr } = await league(["new-game", path]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain(`npm run league -- check-game ${join(path, "game.ts")}`);
  const file = join(path, "game.ts");
  const change = (from: string, to: string): void => {
    const text = readFileSync(file, "utf8");
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
  };
  return { file, change };
}

describe("league new-game", () => {
  it("writes a game of less than 80 lines that keeps every obligation, with a recorded game", async () => {
    const { file } = await newGame();
    const text = readFileSync(file, "utf8");
    expect(text.split("\n").length).toBeLessThan(80);
    expect(text).toContain('id: "stick_game.v1"');
    const { code, stdout } = await league(["check-game", file, "--json"]);
    const { obligations, ...rest } = JSON.parse(stdout);
    expect([code, rest]).toMatchObject([0, { ok: true, game: "stick_game.v1", file, recorded: 1 }]);
    expect(rest).not.toHaveProperty("record");
    expect(obligations.filter(({ status }: { status: string }) => status !== "kept")).toEqual([]);
  });

  it("refuses a folder that exists, the name of a built-in game and a name without letters", async () => {
    const folder = newFolder();
    const ended = await Promise.all(
      [folder, join(folder, "chess"), join(folder, "3")].map((path) => league(["new-game", path])),
    );
    expect(ended.map(({ code, stderr }) => [code, stderr.trim()])).toEqual([
      [2, `${folder} exists already; choose another name`],
      [2, "chess.v1 is a built-in game; choose another name"],
      [2, "3: the name of a game begins with a letter from a to z"],
    ]);
  });
});

describe("league check-game", () => {
  it("explains a violation with the state, the role, the action and the line that throws", async () => {
    const { file, change } = await newGame();
    change("    return ok({", '    if (state.left === 2) throw new RangeError("no luck");\n    return ok({');
    const played = await league(["play", "random", "random", "--game", file, "--option", "heap=2"]);
    expect(played.stdout).toMatch(
      /\naborted .*\nIf the game throws an error, this command shows where: .* check-game \S+\n$/,
    );
    const { code, stdout } = await league(["check-game", file]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}plays random games to the end/m);
    expect(stdout).toContain("      applyAction throws RangeError: no luck\n");
    expect(stdout).toMatch(/game\.ts:35:\d+: RangeError: no luck\n/);
    expect(stdout).toMatch(
      / {6}state: \{"left":2,"turn":"\w+"\}\n {6}role: "\w+"\n {6}action: \d\n {6}What to change: /,
    );
    expect(stdout).toMatch(/1 obligation is violated\. \d+ checks need games that are played to the end\.\n$/);
  });

  it("names NaN, undefined and promises, also in the JSON document", async () => {
    const { file, change } = await newGame();
    change("[winner]: 1 }", "[winner]: Number.NaN }");
    const scores = /actual: \{ scores: \{ first_player: (NaN|0), second_player: (NaN|0) \}/;
    const { stdout } = await league(["check-game", file]);
    expect(stdout).toContain("a score of the outcome is not a finite number");
    expect(stdout).toMatch(scores);
    const { obligations } = JSON.parse((await league(["check-game", file, "--json"])).stdout);
    const outcome = obligations.find(({ id }: { id: string }) => id === "outcome");
    expect(Object.values(outcome.evidence.actual.scores).sort()).toEqual([0, "NaN"]);
    change("    if (left > 0) return null;", "    if (left > 0) return undefined as never;");
    const undef = await league(["check-game", file]);
    expect(undef.stdout).toMatch(/outcome returns undefined, not null .*\n.*\n {6}actual: undefined\n/);
    expect(undef.stdout).toMatch(
      /obligations? (is|are) violated\. \d checks could not end because of an error above\.\n$/,
    );
    change("toAct: (", "toAct: async (");
    const promise = await league(["check-game", file]);
    expect(promise.stdout).toContain("      actual: Promise { [ 'first_player' ] }\n");
  });

  it("reports a change of the rules by the recorded games, until they are recorded again", async () => {
    const { file, change } = await newGame();
    change('reason: "last_taken"', 'reason: "last_stick"');
    const changed = await league(["check-game", file]);
    expect([changed.code, changed.stdout]).toEqual([
      1,
      expect.stringContaining("the outcome is another one than before"),
    ]);
    const recorded = await league(["check-game", file, "--record", "--option", "heap=12"]);
    expect(recorded.stdout).toContain("All obligations are kept. game.playthrough.json has 2 recorded games.");
    expect(recorded.stdout).toMatch(
      /options \{\}: recorded again with the same actions\n.*options \{"heap":12\}: added\n$/,
    );
    expect((await league(["check-game", file])).code).toBe(0);
  });

  it("replaces a recorded game whose actions the rules no longer allow, and says so", async () => {
    const { file, change } = await newGame();
    change("[1, 2].filter", "[1, 3].filter");
    const changed = await league(["check-game", file]);
    expect([changed.code, changed.stdout]).toEqual([
      1,
      expect.stringContaining("a recorded action is no longer legal"),
    ]);
    const recorded = await league(["check-game", file, "--record"]);
    expect([recorded.code, recorded.stdout]).toEqual([
      0,
      expect.stringMatching(
        /has 1 recorded game\.\n {2}at random, options \{\}: replaced by another random game, because .*\n$/,
      ),
    ]);
    expect((await league(["check-game", file])).code).toBe(0);
    const again = JSON.parse((await league(["check-game", file, "--record", "--json"])).stdout);
    expect(again.record).toEqual([{ name: "at random, options {}", change: "unchanged" }]);
  });

  it("replaces a recorded game that no longer ends, and removes one whose options are rejected", async () => {
    const { file, change } = await newGame();
    await league(["check-game", file, "--record", "--option", "heap=20"]);
    change(".max(20).default(5)", ".max(12).default(9)");
    const { code, stdout } = await league(["check-game", file, "--record", "--json"]);
    expect([code, JSON.parse(stdout).record]).toEqual([
      0,
      [
        { name: "at random, options {}", change: "other_actions" },
        { name: 'at random, options {"heap":20}', change: "removed" },
      ],
    ]);
    expect((await league(["check-game", file])).code).toBe(0);
  });

  it("records nothing while an obligation is violated", async () => {
    const { file, change } = await newGame();
    const recordFile = file.replace("game.ts", "game.playthrough.json");
    const before = readFileSync(recordFile, "utf8");
    change("[1, 2].filter", "[1, 3].filter");
    change("[winner]: 1 }", "[winner]: Number.NaN }");
    const { code, stdout } = await league(["check-game", file, "--record"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n--record has recorded nothing\. It records when all obligations are kept\.\n$/);
    expect(stdout).not.toContain("record the games again with --record");
    expect(readFileSync(recordFile, "utf8")).toBe(before);
  });

  it("refuses a file that is no game with its line, and options that the game rejects", async () => {
    const { file, change } = await newGame();
    const wrongOption = await league(["check-game", file, "--option", "heap=99"]);
    expect([wrongOption.code, wrongOption.stderr]).toEqual([2, "--option heap: must be at most 20\n"]);
    change("    maxActions:", "    maxActons:");
    const { code, stderr } = await league(["check-game", file]);
    expect([code, stderr]).toEqual([3, `${file}:19: info.maxActions is missing. Did you mean "maxActons"?\n`]);
  });
});
