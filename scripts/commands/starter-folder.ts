import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/** Writes the files of a new folder. Throws StartError if the folder exists. */
export function writeStarter(path: string, files: Iterable<readonly [name: string, text: string]>): void {
  const folder = resolve(path);
  if (existsSync(folder)) throw new StartError(`${path} exists already; choose another name`, EXIT.usage);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text, { flag: "wx" });
}
