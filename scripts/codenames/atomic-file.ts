import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Writes JSON into a file for its user alone. It is on disk before it takes its name, because the command may be killed and the machine
 * may lose its power at any moment: the file then has its old content or the new one.
 */
export function writeWhole(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  if (process.platform !== "win32") syncFolder(dirname(file)); // Windows opens no folders
}

/** Puts the names of a folder's files on disk. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What a file of JSON holds; null when there is none, or none that can be read. */
export function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null; // not ours
  }
}
