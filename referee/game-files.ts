import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isSessionId, isToken } from "#shared/lib/ids.ts";

/** The database files of the session hosts of one folder. They are only read, because other processes may use them. */
interface GameFiles {
  /** The file that holds a game with one of these session ids or Codenames tokens; null if there is none. */
  fileOf(names: readonly string[]): string | null;
}

const MAX_KNOWN = 1_000;

export function gameFiles(folder: string): GameFiles {
  /** File by session id or token. A game never moves to another file. */
  const known = new Map<string, string>();
  const find = (name: string): string | null => {
    const files = readdirSync(folder).filter((file) => file.endsWith(".sqlite"));
    return files.map((file) => join(folder, file)).find((file) => holds(file, name)) ?? null;
  };
  return {
    fileOf(names) {
      for (const name of names) {
        const file = known.get(name) ?? (isSessionId(name) || isToken(name) ? find(name) : null);
        if (file === null) continue;
        if (known.size >= MAX_KNOWN) known.clear();
        known.set(name, file);
        return file;
      }
      return null;
    },
  };
}

/** A file without these tables, or one that cannot be read, holds no game. */
function holds(file: string, name: string): boolean {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 500 });
    const found = isSessionId(name)
      ? db.prepare("SELECT 1 FROM sessions WHERE session_id = ?").get(name)
      : db.prepare("SELECT 1 FROM codenames WHERE token = ?").get(sha256Hex(name));
    return found !== undefined;
  } catch {
    return false;
  } finally {
    db?.close();
  }
}
