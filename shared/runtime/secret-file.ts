import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Ids } from "../lib/ids.ts";
import { fileFault, StartError } from "./exit.ts";
import { fileNameOf } from "./file-name.ts";

/** Where an agent keeps its token: a player by its name, a referee by its port. */
export const tokenFileOf = (dataFolder: string, kind: "player" | "referee", name: string): string =>
  join(dataFolder, "tokens", `${kind}-${fileNameOf(name)}`);

/** The secret in a file; undefined when there is none. StartError when the file cannot be read. */
export function readSecret(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (thrown) {
    // Node's error for reading a folder does not name the path. An agent may read its secret after it has begun to listen.
    const fault = Object.assign(thrown as Error, { path: file });
    throw new StartError(fileFault(fault) ?? fault.message);
  }
}

/** Keeps a secret in a file that only its owner may read. */
export function writeSecret(file: string, secret: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
}

/** The secret in a file, or a new one, which is kept there. */
export function ownSecret(file: string, ids: Ids): string {
  const known = readSecret(file);
  if (known) return known;
  const secret = ids.token();
  writeSecret(file, secret);
  return secret;
}
