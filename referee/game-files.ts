import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isSessionId, isToken } from "#shared/lib/ids.ts";

/**
 * The session hosts' database files of one folder. A file may be in use by another process: it is read, never written.
 * `names` are session ids or tokens of Codenames games; the answer is null when no file has one of them.
 */
export interface GameFiles {
  fileOf(names: readonly string[]): string | null;
}

const MAX_KNOWN = 1_000;

export function gameFiles(folder: string): GameFiles {
  /** File by session id or token: a game never moves to another file. */
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
    const [sql, value] = isSessionId(name)
      ? ["SELECT 1 FROM sessions WHERE session_id = ?", name]
      : ["SELECT 1 FROM codenames WHERE token = ?", sha256Hex(name)];
    return db.prepare(sql as string).get(value as string) !== undefined;
  } catch {
    return false;
  } finally {
    db?.close();
  }
}
