import type { DatabaseSync } from "node:sqlite";
import type { Game, Role } from "#shared/games/game.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { Statement } from "#shared/store/writer.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import type { PlaySeat } from "../sessions/seats.ts";
import { linkOf, openGame, type PlayContext, type SeatAccess } from "./play.ts";

export const REMATCH_SCHEMA = `
  CREATE TABLE IF NOT EXISTS rematches (
    session_id TEXT PRIMARY KEY REFERENCES sessions(session_id),
    next_session_id TEXT NOT NULL REFERENCES sessions(session_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS rematches_by_next ON rematches (next_session_id);
`;

/** The rematches of games: the same players and options, with the roles exchanged. A game has at most one. */
export interface Rematches {
  /** The link of the caller's seat in the rematch; null if there is no rematch. */
  linkFor(access: SeatAccess): string | null;
  /** Whether a game is the rematch of another one. */
  isRematch(gameId: string): boolean;
  /** Creates the rematch, unless there is one. Resolves with the link of the caller's seat. */
  start(access: SeatAccess): Promise<Result<string, Rejection>>;
}

export function createRematches(db: DatabaseSync, context: PlayContext): Rematches {
  const select = db.prepare("SELECT next_session_id FROM rematches WHERE session_id = ?");
  const selectPrevious = db.prepare("SELECT 1 FROM rematches WHERE next_session_id = ?");
  /** The rematches that are being created, by the ids of their games. */
  const starting = new Map<string, Promise<unknown>>();
  const linkFor = ({ stored: { session }, role }: SeatAccess): string | null => {
    const next = select.get(session.id)?.next_session_id;
    return next === undefined ? null : linkOf(context, String(next), nextRole(session.game, role));
  };
  return {
    linkFor,
    isRematch: (gameId) => selectPrevious.get(gameId) !== undefined,
    async start(access) {
      const { session } = access.stored;
      const seats = context.seats.of(session.id);
      if (seats.length === 0) return rejected("NOT_PERMITTED", "A match of a league has no rematch");
      if (session.status !== "completed") return rejected("CONFLICT", "A rematch begins after the end of the game");
      if (linkFor(access) === null) {
        const creating = starting.get(session.id) ?? startRematch(context, access, seats);
        starting.set(session.id, creating);
        await creating.finally(() => starting.delete(session.id));
      }
      return ok(linkFor(access) ?? "");
    },
  };
}

async function startRematch(
  context: PlayContext,
  { stored: { session }, role: asker }: SeatAccess,
  seats: readonly PlaySeat[],
): Promise<void> {
  const { game, options } = session;
  const assignedSeats = seats.map((seat) => ({
    ...seat,
    role: nextRole(game, seat.role),
    // An agent takes its seat again, because its new token is secret.
    joined: seat.kind !== "agent",
    isCreator: seat.role === asker,
    holder: null,
  }));
  const alongside = (next: string): readonly Statement[] => [
    { sql: "INSERT INTO rematches (session_id, next_session_id) VALUES (?, ?)", parameters: [session.id, next] },
  ];
  const { id } = await openGame(context, { game, options, assignedSeats, alongside });
  for (const { kind, role, name } of assignedSeats) if (kind === "bot") context.bots.play(id, role, name);
}

/** The role in a rematch: the next one in the order of the game, so that two players exchange their roles. */
const nextRole = ({ roles }: Game, role: Role): Role => roles[(roles.indexOf(role) + 1) % roles.length] ?? role;
