import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** Writes JSON into a file for its user alone. Renamed when it is whole: the command may be killed at any moment. */
export function writeWhole(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** What a file of JSON holds; null when there is none, or none that can be read. */
export function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null; // not ours
  }
}
