import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import type { Role } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { DisplayName } from "#shared/protocol/message-fields.ts";
import type { Statement } from "#shared/store/writer.ts";

/** The kind of a seat's holder: an agent that calls over MCP or REST, a person, or a player process that the host asks for moves. */
export type SeatKind = "agent" | "human" | "bot";

/** The display name of a player. It is one line, because other players' LLMs read it. */
export const PlayerName = DisplayName.check(z.maxLength(60));

/** A seat of a game that was created with createGame. League matches have no such seats. */
export interface PlaySeat {
  readonly role: Role;
  readonly kind: SeatKind;
  readonly name: string;
  /** False while it is open for joinGame. */
  readonly joined: boolean;
  /** Whether it is the seat of the creator of the game. */
  readonly isCreator: boolean;
  /** SHA-256 of the bearer token of the call that took the seat; null without one. */
  readonly holder: string | null;
}

export const SEAT_SCHEMA = `
  CREATE TABLE IF NOT EXISTS seats (
    session_id TEXT NOT NULL REFERENCES sessions(session_id),
    role TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('agent', 'human', 'bot')),
    name TEXT NOT NULL,
    joined INTEGER NOT NULL,
    is_creator INTEGER NOT NULL,
    holder TEXT,
    PRIMARY KEY (session_id, role)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS seats_by_holder ON seats (holder) WHERE holder IS NOT NULL;
`;

/** A person's seat in a game that an agent created. */
export interface PersonSeat {
  readonly role: Role;
  readonly token: string;
  /** Whether the seat sees information that the agent may not know. The agent then gets neither its token nor its link. */
  readonly isWithheld: boolean;
}

/** The stored seats of games. */
export interface SeatTable {
  /** The seats of a game; empty for sessions that were not created with createGame. */
  of(sessionId: string): readonly PlaySeat[];
  /** The roles of a game whose seats are open. */
  open(sessionId: string): readonly Role[];
  /** Whether a seat is bound to this bearer token. */
  isHolder(token: string): boolean;
  /** The ids of active games with a bot among their players. */
  withBots(): readonly string[];
  /** The statement that adds a seat, for the transaction that creates its session. */
  adding(sessionId: string, seat: PlaySeat): Statement;
  /** The statement that names the holder of a seat. */
  naming(sessionId: string, role: Role, name: string): Statement;
  /** The statements that assign an open seat: the agent of the seat gets the token with this hash. */
  joining(sessionId: string, seat: PlaySeat, agentId: string, tokenHash: string): readonly Statement[];
}

export function seatTable(db: DatabaseSync): SeatTable {
  const select = db.prepare("SELECT role, kind, name, joined, is_creator, holder FROM seats WHERE session_id = ?");
  const selectOpen = db.prepare("SELECT role FROM seats WHERE session_id = ? AND joined = 0");
  const selectHolder = db.prepare("SELECT 1 FROM seats WHERE holder = ? LIMIT 1");
  const selectBots = db.prepare(
    "SELECT DISTINCT session_id FROM seats JOIN sessions USING (session_id) WHERE kind = 'bot' AND status = 'active'",
  );
  return {
    of: (sessionId) =>
      select.all(sessionId).map(({ is_creator, joined, ...row }) => ({
        ...row,
        joined: joined === 1,
        isCreator: is_creator === 1,
      })) as never,
    open: (sessionId) => selectOpen.all(sessionId).map(({ role }) => String(role)),
    isHolder: (token) => selectHolder.get(sha256Hex(token)) !== undefined,
    withBots: () => selectBots.all().map((row) => String(row.session_id)),
    adding: (sessionId, { role, kind, name, joined, isCreator, holder }) => ({
      sql: "INSERT INTO seats (session_id, role, kind, name, joined, is_creator, holder) VALUES (?, ?, ?, ?, ?, ?, ?)",
      parameters: [sessionId, role, kind, name, Number(joined), Number(isCreator), holder],
    }),
    naming: (sessionId, role, name) => ({
      sql: "UPDATE seats SET name = ? WHERE session_id = ? AND role = ?",
      parameters: [name, sessionId, role],
    }),
    joining: (sessionId, { role, name, holder }, agentId, tokenHash) => [
      {
        sql: "UPDATE seats SET joined = 1, name = ?, holder = ? WHERE session_id = ? AND role = ?",
        parameters: [name, holder, sessionId, role],
      },
      { sql: "UPDATE agents SET token = ? WHERE agent_id = ?", parameters: [tokenHash, agentId] },
    ],
  };
}
