import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newToken } from "../lib/ids.ts";
import { fileNameOf } from "./file-name.ts";

/** Where an agent keeps its token: a player by its name, a referee by its port. */
export const tokenFileOf = (dataFolder: string, kind: "player" | "referee", name: string): string =>
  join(dataFolder, "tokens", `${kind}-${fileNameOf(name)}`);

/** The secret in a file; undefined when there is none. */
export const readSecret = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;

/** Keeps a secret in a file that only its owner may read. */
export function writeSecret(file: string, secret: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
}

/** The secret in a file, or a new one, which is kept there. */
export function ownSecret(file: string): string {
  const known = readSecret(file);
  if (known) return known;
  const secret = newToken();
  writeSecret(file, secret);
  return secret;
}
