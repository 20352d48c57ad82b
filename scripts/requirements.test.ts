import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { FORMATS } from "#shared/formats/registry.ts";
import { builtInBots } from "#shared/games/built-in-bots.ts";
import { gameIds } from "#shared/games/registry.ts";
import { messageTypes } from "#shared/protocol/envelope.ts";
import { faultCauses } from "#shared/session/entry.ts";
import { TIE_BREAKS } from "#shared/standings/tie-breaks.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns the titles of the tests in a file, as they are written in the source; null if the file does not exist. */
type TitlesIn = (path: string) => readonly string[] | null;

/** Matches the title of a test: the first argument of `it(` or `test(`, or of the call that follows `each(…)` or `for(…)`. */
const TITLE =
  /(?:^|\n)[^\n]*?(?:\b(?:it|test)(?:\.\w+)*\(|\)\()\s*(["'`])((?:\\.|(?!\1)[^\\\n])*)\1,\s*(?:\{[^}]*\},\s*)?(?:async\b|function\b|\()/g;
const ROW = /^\| ([A-Z]{2})-(\d+) \| (.*?) \| (.*?) \|$/;
const TEST = /^`([\w./-]+\.(?:test|suite)\.ts)`(?:: (.+))?$/;

const titlesOf: TitlesIn = (path) =>
  existsSync(`${root}${path}`) ? titlesIn(readFileSync(`${root}${path}`, "utf8")) : null;

const titlesIn = (source: string): readonly string[] =>
  [...source.matchAll(TITLE)].map(([, , title = ""]) => title.replaceAll(/\\(["'`\\])/g, "$1"));

/** The commands that `league --help` lists. */
function commands(): readonly string[] {
  const help = execFileSync(process.execPath, [`${root}scripts/league.ts`, "--help"], { encoding: "utf8" });
  const [, list = ""] = /^Commands:\n([\s\S]*?)\n\n/m.exec(help) ?? [];
  return [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].flatMap(([, name = ""]) => (name === "help" ? [] : [name]));
}

/** The features of the product by their kind. A new one fails the test until docs/requirements.md names it. */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  Games: gameIds,
  Formats: FORMATS.map(({ id }) => id),
  "Tie-breaks": Object.keys(TIE_BREAKS),
  "Built-in bots": builtInBots,
  "Causes of a fault": faultCauses,
  "Messages, without their responses": messageTypes.filter((type) => !type.endsWith("_RESPONSE")),
  "Commands of the program league": commands(),
};

/** Returns one sentence for each fault in the requirement tables of a document. */
function faultsOf(text: string, titles: TitlesIn): readonly string[] {
  const lastNumbers = new Map<string, number>();
  return text.split("\n").flatMap((line) => {
    if (!/^\| *[A-Z]{2}-/.test(line)) return [];
    const [, prefix = "", number = "", requirement = "", tests = ""] = ROW.exec(line) ?? [];
    if (prefix === "") return [`not a row of three columns: ${line}`];
    const id = `${prefix}-${number}`;
    const previous = lastNumbers.get(prefix) ?? 0;
    lastNumbers.set(prefix, Number(number));
    return [
      ...(Number(number) === previous ? [`${id} occurs twice`] : []),
      ...(Number(number) < previous ? [`${id} is out of order`] : []),
      ...(requirement.trim() === "" ? [`${id} has no text`] : []),
      ...(tests.trim() === ""
        ? [`${id} names no test`]
        : tests.split("<br>").flatMap((test) => faultOf(id, test, titles))),
    ];
  });
}

function faultOf(id: string, test: string, titlesOfFile: TitlesIn): readonly string[] {
  const [, path, title] = TEST.exec(test) ?? [];
  if (path === undefined) return [`${id} names no test file: ${test}`];
  const titles = titlesOfFile(path);
  if (titles === null) return [`${id}: there is no file ${path}`];
  return title === undefined || titles.includes(title) ? [] : [`${id}: ${path} has no test "${title}"`];
}

describe("docs/requirements.md", () => {
  const text = readFileSync(`${root}docs/requirements.md`, "utf8");

  it("cites tests that exist, with ids in ascending order", () => {
    expect(faultsOf(text, titlesOf)).toEqual([]);
  });

  it("has requirements with each of the seven prefixes", () => {
    const prefixes = [...text.matchAll(/^\| ([A-Z]{2})-\d+ \|/gm)].map(([, prefix]) => prefix);
    expect([...new Set(prefixes)].sort()).toEqual(["CN", "CT", "FE", "LA", "LP", "SH", "SM"]);
  });

  it.each(Object.entries(FEATURES))("names all features of the kind %s, in the order of the program", (kind, names) => {
    const [, listed = ""] = new RegExp(`^\\| FE-\\d+ \\| ${kind}: (.*?)\\. \\|`, "m").exec(text) ?? [];
    expect([...listed.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).toEqual(names);
  });
});

describe("faultsOf", () => {
  const titles: TitlesIn = (path) => (path === "a/b.test.ts" ? ["works", "takes %s"] : null);
  const valid =
    "| AB-01 | It works. | `a/b.test.ts`: works<br>`a/b.test.ts`: takes %s |\n| AB-02 | It works. | `a/b.test.ts` |";

  it("returns no fault for valid requirements", () => {
    expect(faultsOf(valid, titles)).toEqual([]);
  });

  it.each([
    ["AB-02", "AB-01", "AB-01 occurs twice"],
    ["AB-01", "AB-03", "AB-02 is out of order"],
    ["| `a/b.test.ts` |", "|  |", "AB-02 names no test"],
    ["`a/b.test.ts` |", "works |", "AB-02 names no test file: works"],
    ["`a/b.test.ts` |", "`a/c.test.ts` |", "AB-02: there is no file a/c.test.ts"],
    ["takes %s", "takes", 'AB-01: a/b.test.ts has no test "takes"'],
    ["| It works. |", "|", "not a row of three columns: | AB-01 | `a/b.test.ts`: works<br>`a/b.test.ts`: takes %s |"],
  ])("reports a fault when %j is replaced by %j", (part, replacement, fault) => {
    expect(faultsOf(valid.replace(part, replacement), titles)).toEqual([fault]);
  });
});

describe("titlesIn", () => {
  it("returns the titles of all forms of tests, and no other strings", () => {
    const source = [
      'it("one", () => {});',
      'test.each<string>([["a"]])("two %s", async (a) => {});',
      "it.for([1])(\n  'three',\n  (one) => {},\n);",
      'it.runIf(isLinux)(\n  "four \\"quoted\\"",\n  async () => {},\n);',
      'expect("five").toBe("six");',
    ].join("\n");
    expect(titlesIn(source)).toEqual(["one", "two %s", "three", 'four "quoted"']);
  });
});
