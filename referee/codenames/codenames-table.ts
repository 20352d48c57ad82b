import type { DatabaseSync } from "node:sqlite";
import type { Role } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Statement } from "#shared/store/writer.ts";
import type { Pending, PlayerType } from "./questions.ts";

/** A game of create_new_game: its players and its open question. */
export interface LedGame {
  readonly sessionId: string;
  /** The owner, who needs no game token (`ownerOf` in director.ts); null if only the game token identifies the caller. */
  readonly owner: string | null;
  readonly players: Readonly<Record<Role, PlayerType>>;
  readonly pending: Pending;
}

export const CODENAMES_SCHEMA = `
  CREATE TABLE IF NOT EXISTS codenames (
    session_id TEXT PRIMARY KEY REFERENCES sessions(session_id),
    token TEXT UNIQUE NOT NULL,
    owner TEXT,
    players TEXT NOT NULL,
    pending TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS codenames_by_owner ON codenames (owner) WHERE owner IS NOT NULL;
`;

/** The stored games of create_new_game. Statements are for transactions of the caller. */
export interface CodenamesTable {
  get(sessionId: string): LedGame | null;
  /** The game of a game token. */
  byToken(token: string): LedGame | null;
  /** The open game of an owner, or else its last one. */
  of(owner: string): LedGame | null;
  /** The statement that adds a game. */
  adding(game: LedGame, token: string): Statement;
  /** The statement that sets the open question of a game. */
  settingPending(sessionId: string, pending: Pending): Statement;
  /** The statement that sets the open question of a game unless another call has changed it since `game` was read. */
  replacingPending(game: LedGame, pending: Pending): Statement;
  /** The statement that changes the owner of a game. */
  owning(sessionId: string, owner: string): Statement;
}

export function codenamesTable(db: DatabaseSync): CodenamesTable {
  const columns = "SELECT session_id, owner, players, pending FROM codenames";
  const byId = db.prepare(`${columns} WHERE session_id = ?`);
  const byToken = db.prepare(`${columns} WHERE token = ?`);
  const byOwner = db.prepare(
    `${columns} JOIN sessions USING (session_id) WHERE owner = ?
     ORDER BY sessions.status = 'active' DESC, sessions.created_at DESC, sessions.rowid DESC LIMIT 1`,
  );
  const gameIn = (row: Readonly<Record<string, unknown>> | undefined): LedGame | null =>
    row === undefined
      ? null
      : {
          sessionId: String(row.session_id),
          owner: row.owner === null ? null : String(row.owner),
          players: JSON.parse(String(row.players)),
          pending: JSON.parse(String(row.pending)),
        };
  return {
    get: (sessionId) => gameIn(byId.get(sessionId)),
    byToken: (token) => gameIn(byToken.get(sha256Hex(token))),
    of: (owner) => gameIn(byOwner.get(owner)),
    adding: ({ sessionId, owner, players, pending }, token) => ({
      sql: "INSERT INTO codenames (session_id, token, owner, players, pending) VALUES (?, ?, ?, ?, ?)",
      parameters: [sessionId, sha256Hex(token), owner, JSON.stringify(players), JSON.stringify(pending)],
    }),
    settingPending: (sessionId, pending) => ({
      sql: "UPDATE codenames SET pending = ? WHERE session_id = ?",
      parameters: [JSON.stringify(pending), sessionId],
    }),
    replacingPending: (game, pending) => ({
      sql: "UPDATE codenames SET pending = ? WHERE session_id = ? AND pending = ?",
      parameters: [JSON.stringify(pending), game.sessionId, JSON.stringify(game.pending)],
    }),
    owning: (sessionId, owner) => ({
      sql: "UPDATE codenames SET owner = ? WHERE session_id = ?",
      parameters: [owner, sessionId],
    }),
  };
}
