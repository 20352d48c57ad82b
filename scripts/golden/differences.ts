import { diff } from "node:util";
import type { Texts } from "./parts.ts";

/** A file of the record that differs. */
export interface Difference {
  readonly file: string;
  /** What differs, as lines. */
  readonly lines: readonly string[];
}

/** Compares the files of a record with those that the program gives now. */
export function differencesBetween(recorded: Texts, current: Texts): readonly Difference[] {
  const files = [...new Set([...recorded.keys(), ...current.keys()])].sort();
  return files.flatMap((file) => {
    const [before, now] = [recorded.get(file), current.get(file)];
    if (before === undefined) return { file, lines: ["the record has no such file"] };
    if (now === undefined) return { file, lines: ["the program no longer gives this file"] };
    if (before === now) return [];
    const [linesBefore, linesNow] = [before.split("\n"), now.split("\n")];
    return { file, lines: [...columnsThatDiffer(linesBefore, linesNow), ...unifiedDiff(linesBefore, linesNow)] };
  });
}

/** A line of a table: a title, then names with hashes. */
const ROW = /^([\w -]+): (.*)$/;

/** For lines of leagues: says how many lines differ in each column, e.g. in the standings. */
function columnsThatDiffer(before: readonly string[], now: readonly string[]): readonly string[] {
  const columnsOf = (line: string): ReadonlyMap<string, string> =>
    new Map([...line.matchAll(/(\w+) ([\da-f]{8})\b/g)].map(([, name = "", hash = ""]) => [name, hash]));
  const rows = new Map(
    now.flatMap((line) => (ROW.test(line) ? [[ROW.exec(line)?.[1], columnsOf(line)] as const] : [])),
  );
  const counts = new Map<string, number>();
  for (const line of before) {
    const other = rows.get(ROW.exec(line)?.[1]);
    if (other === undefined) continue;
    for (const [name, hash] of columnsOf(line)) {
      if (other.get(name) !== hash) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts.size === 0
    ? []
    : [`lines that differ: ${[...counts].map(([name, n]) => `${name} in ${n}`).join(", ")}`];
}

/** The number of equal lines that a hunk shows around its changes. */
const CONTEXT = 2;
/** The longest texts, in lines, whose differences are searched. The search takes the square of the number of differences. */
const MAX_LINES = 3_000;

/** Returns the hunks of a unified diff. */
export function unifiedDiff(before: readonly string[], now: readonly string[]): readonly string[] {
  let start = 0;
  while (start < Math.min(before.length, now.length) && before[start] === now[start]) start++;
  let end = 0;
  const shorter = Math.min(before.length, now.length) - start;
  while (end < shorter && before[before.length - 1 - end] === now[now.length - 1 - end]) end++;
  const [removed, added] = [before.slice(start, before.length - end), now.slice(start, now.length - end)];
  const changes: readonly Change[] =
    Math.max(removed.length, added.length) > MAX_LINES
      ? [...removed.map((line): Change => [-1, line]), ...added.map((line): Change => [1, line])]
      : changesBetween(removed, added);
  const equal = (lines: readonly string[]): readonly Change[] => lines.map((line): Change => [0, line]);
  const around = [
    ...equal(before.slice(Math.max(0, start - CONTEXT), start)),
    ...changes,
    ...equal(before.slice(before.length - end, before.length - end + CONTEXT)),
  ];
  return hunksOf(around, Math.max(0, start - CONTEXT));
}

/** -1: a line of the record; 1: a line of now; 0: a line of both. */
type Change = readonly [operation: -1 | 0 | 1, line: string];

/** `diff` of Node.js gives -1 for a line that only its second argument has. */
const changesBetween = (before: readonly string[], now: readonly string[]): readonly Change[] =>
  diff(before, now).map(([operation, line]): Change => [operation === 0 ? 0 : operation === 1 ? -1 : 1, line]);

function hunksOf(changes: readonly Change[], firstLine: number): readonly string[] {
  const isShown = changes.map((_, index) =>
    changes.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(([operation]) => operation !== 0),
  );
  const lines: string[] = [];
  let number = firstLine;
  for (const [index, [operation, line]] of changes.entries()) {
    if (operation <= 0) number++;
    if (!isShown[index]) continue;
    if (!isShown[index - 1]) lines.push(`@@ line ${Math.max(1, number)} @@`);
    lines.push(`${operation === 0 ? " " : operation < 0 ? "-" : "+"}${line}`);
  }
  return lines;
}
