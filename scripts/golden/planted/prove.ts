import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { invariant } from "#shared/lib/result.ts";
import { PROJECT } from "../interfaces/commands.ts";
import { PLANTED_CHANGES, type PlantedChange } from "./changes.ts";

const NOT_COPIED = new Set([".git", "node_modules", "data"]);

/**
 * Applies the planted changes whose names contain a text to a copy of the program, one at a time. Resolves with true if the comparison of the named part
 * finds each of them, and finds nothing in the copy without a change.
 */
export async function prove(only: string, print: (line: string) => void): Promise<boolean> {
  const changes = PLANTED_CHANGES.filter(({ name }) => name.includes(only));
  invariant(changes.length > 0, `a planted change has "${only}" in its name`);
  const copy = mkdtempSync(join(tmpdir(), "golden-"));
  try {
    cpSync(PROJECT, copy, { recursive: true, filter: (source) => !NOT_COPIED.has(basename(source)) });
    symlinkSync(join(PROJECT, "node_modules"), join(copy, "node_modules"));
    const parts = [...new Set(changes.map(({ part }) => part))];
    const unchanged = await compared(copy, parts);
    print(`${unchanged.code === 0 ? "equal" : "NOT EQUAL"}  without a change: ${parts.join(", ")}`);
    if (unchanged.code !== 0) print(unchanged.output);
    let found = 0;
    for (const change of changes) {
      const line = await foundIn(copy, change);
      if (line !== null) found++;
      print(`${line === null ? "MISSED" : "found "}  ${change.name}: ${line ?? change.part}`);
    }
    print(`${found} of ${changes.length} planted changes are found`);
    return found === changes.length && unchanged.code === 0;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Resolves with the line of the comparison that shows a change, or with null. The copy is without the change afterwards. */
async function foundIn(copy: string, { file, from, to, part, shows }: PlantedChange): Promise<string | null> {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  invariant(original.split(from).length === 2, `${file} contains the text of a planted change once: ${from}`);
  writeFileSync(
    path,
    original.replace(from, () => to),
  );
  const { code, output } = await compared(copy, [part]);
  writeFileSync(path, original);
  if (code !== 1) return null;
  return output.split("\n").find((line) => line.includes(shows)) ?? null;
}

/** Compares parts of a copy with its record. Exit code 1 means that they differ. */
async function compared(
  copy: string,
  parts: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const args = ["scripts/golden/golden.ts", "compare", "--lines", "1000", "--part", ...parts];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await exited;
  // A part that cannot be made ends the comparison with an error, which is not a found difference.
  const isComparison = /^(no difference in|\d+ files? differs?)/m.test(output);
  return isComparison ? { code, output } : { code: -1, output: errors };
}
