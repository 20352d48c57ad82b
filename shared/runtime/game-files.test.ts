import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findGame, findGameNamed } from "#shared/games/registry.ts";
import { loadGame, loadGames, readGame } from "./game-files.ts";

const folder = mkdtempSync(join(tmpdir(), "game-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

const STARTER = readFileSync(new URL("../../scripts/starters/game/game.ts", import.meta.url), "utf8");
let written = 0;

/** Writes a file with the starter's text after replacements. Returns its path. */
function gameFile(...replacements: readonly (readonly [from: string, to: string])[]): string {
  const file = join(folder, `game-${++written}.ts`);
  writeFileSync(
    file,
    replacements.reduce((text, [from, to]) => {
      expect(text).toContain(from);
      return text.replace(from, to);
    }, STARTER),
  );
  return file;
}

/** Returns the fault of such a file without its path. */
async function faultOf(...replacements: readonly (readonly [from: string, to: string])[]): Promise<string> {
  const file = gameFile(...replacements);
  const read = await readGame(file);
  return read.ok ? "none" : read.error.replaceAll(`${file}:`, "");
}

describe("a game file", () => {
  it("is loaded from a folder without the package, and its game is found by its id and its name", async () => {
    const file = gameFile(["nim.v1", "file_nim.v1"], ['name: "Nim"', 'name: "Nim of a file"']);
    const [game] = await loadGames([file]);
    expect(findGame("file_nim.v1")).toBe(game);
    expect(findGameNamed("nim of a FILE")).toBe(game);
    expect(await loadGame(file)).toEqual({ ok: true, value: game });
  });

  it("is rejected with the line of the fault if its id is that of a built-in game or of another file", async () => {
    const clash = gameFile(["nim.v1", "chess.v1"]);
    const message = `${clash}:17: id "chess.v1" is the id of a built-in game; choose another`;
    expect(await loadGame(clash)).toEqual({ ok: false, error: message });
    const [first, again] = [gameFile(["nim.v1", "twice_nim.v1"]), gameFile(["nim.v1", "twice_nim.v1"])];
    await expect(loadGames([first, again])).rejects.toMatchObject({
      message: `${again}:17: id "twice_nim.v1" is the id of the game of ${first}; choose another`,
      exitCode: 3,
    });
  });

  it.each<[string, string, string, string]>([
    [
      "an id without version",
      '"nim.v1"',
      '"nim"',
      '17: id must be a name in lower case with a version, e.g. "my_game.v1"',
    ],
    ["no rules", "    rules:", "    rule:", '19: info.rules is missing. Did you mean "rule"?'],
    ["a misspelt function", "  toText:", "  totext:", '47: toText is missing. Did you mean "totext"?'],
    [
      "a value instead of a function",
      "isTerminal: ({ left }) => left === 0",
      "isTerminal: true",
      "37: isTerminal must be a function",
    ],
    ["one role", '["first_player", "second_player"]', '["first_player"]', "18: roles must have at least 2 entries"],
    [
      "a role with a space",
      '"first_player", "',
      '"first player", "',
      "18: roles[0] a role has letters, digits and underscores, and begins with a letter",
    ],
    [
      "the role spectator",
      '"first_player", "',
      '"spectator", "',
      "18: roles[0] spectator is the viewer without a role, so no role may have this name",
    ],
    [
      "two equal roles",
      '["first_player", "second_player"]',
      '["first_player", "first_player"]',
      "18: roles must not have two equal names",
    ],
    [
      "options that are not a schema",
      "options: z.strictObject({ heap: z.int().min(1).max(20).default(5) })",
      "options: {}",
      "28: options must be a zod schema",
    ],
    ["an option without default", ".default(5)", "", "28: options each option needs a default: heap: is missing"],
    [
      "an unknown board",
      "hiddenInformation: false,",
      'hiddenInformation: false, board: "disc",',
      '25: info.board must be "chess", "marks", "discs", "words", "hands", "numbers" or "cards", not "disc". Did you mean "discs"?',
    ],
    [
      "a history that is no path",
      "maxActions: 20,",
      "maxActions: 20, history: true as never,",
      "26: info.history must be a list, not true or false",
    ],
    [
      "a history with too many fields",
      "maxActions: 20,",
      'maxActions: 20, history: ["a", "b", "c", "d", "e", "f"],',
      "26: info.history must have at most 5 entries",
    ],
    [
      "a team of unknown roles",
      "hiddenInformation: false,",
      'hiddenInformation: false, teams: [{ name: "a", roles: ["b"] }],',
      '19: info "b" is not one of the roles',
    ],
    [
      "no default export",
      "export default game",
      "export { game }",
      " has no default export; add the line: export default game;",
    ],
    [
      "another default export",
      "export default game",
      "export default 3",
      "47: the default export must be an object, not 3",
    ],
  ])("with %s is rejected with the line of the fault", async (_, from, to, expected) => {
    expect(await faultOf([from, to])).toBe(expected);
  });

  it.each<[string, string, string, RegExp]>([
    ["a syntax error", "  toText:", "  toText", /^44(:\d+)?: SyntaxError: /],
    [
      "an error at its top level",
      "export default game",
      'throw new Error("no luck"); export default game',
      /^47:\d+: Error: no luck$/,
    ],
    ["an import that does not exist", 'from "agent-league/game"', 'from "./no-such-file.ts"', /Cannot find module/],
  ])("with %s is rejected with the position of the error", async (_, from, to, expected) => {
    expect(await faultOf([from, to])).toMatch(expected);
  });

  it("is named in the fault if it does not exist", async () => {
    const file = join(folder, "missing.ts");
    expect(await readGame(file)).toEqual({ ok: false, error: `${file}: no such file` });
  });
});
