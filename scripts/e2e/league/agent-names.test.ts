import { afterEach, expect, test } from "vitest";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";

afterEach(cleanUp);

const VISIBLE = "must be visible text on one line, without control characters or zero-width characters";
/** Invalid names, each with its form in the error and the reason. */
const INVALID_NAMES: readonly (readonly [name: string, shown: string, reason: string])[] = [
  ["An\u200bn", "An\\u{200b}n", VISIBLE],
  ["\u202eAnn\u001b[2J\n", "\\u{202e}Ann\\u{1b}[2J\\u{a}", VISIBLE],
  ["Ann' is invalid. \u0007", "Ann' is invalid. \\u{7}", VISIBLE],
  ["A".repeat(101), `${"A".repeat(60)}…`, "must have at most 100 characters"],
  [" ", " ", "must not be empty"],
];

test.each([
  ["league join", "scripts/league.ts", ["join", "random"]],
  ["the player", "player/main.ts", []],
  ["the referee", "referee/main.ts", []],
])("%s rejects an invalid name with an error of one line", async (_, script, args) => {
  const folder = newFolder();
  const checks = INVALID_NAMES.map(async ([name, shown, reason]) => {
    const { code, stdout, stderr } = await start(script, [...args, "--data", folder, "--name", name]).ended;
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")).toEqual([
      `error: option '--name <name>' argument '${shown}' is invalid. a name ${reason}.`,
      "(use --help to list the options)",
      "",
    ]);
  });
  await Promise.all(checks);
});
