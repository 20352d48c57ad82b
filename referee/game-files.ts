import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isSessionId, isToken } from "#shared/lib/ids.ts";

/** The database files of the session hosts of one folder. They are only read, because other processes may use them. */
interface GameFiles {
  /** The file that contains a game with one of these session ids or Codenames tokens; null if there is none. */
  fileOf(names: readonly string[]): string | null;
}

const MAX_CACHED = 1_000;

/** The game files of a folder. */
export function gameFiles(folder: string): GameFiles {
  /** The files by session id or token. A game never moves to another file. */
  const cache = new Map<string, string>();
  const find = (name: string): string | null => {
    const files = readdirSync(folder).filter((file) => file.endsWith(".sqlite"));
    return files.map((file) => join(folder, file)).find((file) => contains(file, name)) ?? null;
  };
  return {
    fileOf(names) {
      for (const name of names) {
        const file = cache.get(name) ?? (isSessionId(name) || isToken(name) ? find(name) : null);
        if (file === null) continue;
        if (cache.size >= MAX_CACHED) cache.clear();
        cache.set(name, file);
        return file;
      }
      return null;
    },
  };
}

/** Whether a file contains a game. False if the file has no such table or cannot be read. */
function contains(file: string, name: string): boolean {
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
