import type { Role, Viewer } from "#shared/games/game.ts";
import type { Result } from "#shared/lib/result.ts";
import type { Session } from "#shared/session/session.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { StoredSession } from "../sessions/live-sessions.ts";
import type { Rejection } from "../sessions/rejections.ts";
import type { PersonSeat, PlaySeat } from "../sessions/seats.ts";
import { gameView } from "../views/game-view.ts";
import { createGame, type NewGame, type NewTable, openGame, type TakenSeat } from "./creation.ts";
import type { PlayDesk } from "./desk.ts";
import { type Joiner, joinGame } from "./joining.ts";
import { linkOf, personLinks, userSeat } from "./links.ts";
import { lookAt, type SeatedPlayer, seatOf } from "./seat-access.ts";

/** Games outside of leagues on the session host: their seats, and the callers that may act for a seat. */
export interface Play {
  create(request: NewGame): Promise<Result<TakenSeat, Rejection>>;
  /** Opens a game whose seats are all assigned. */
  open(table: NewTable): Promise<Session>;
  /** Takes an open seat; the first one when no role is named. */
  join(gameId: string, joiner: Joiner): Promise<Result<TakenSeat, Rejection>>;
  /** The seat that a token stands for: that of the seat itself, or a bearer token that it is bound to. */
  seatOf(gameId: string, token: string | null): Result<SeatedPlayer, Rejection>;
  /** A game as a seat or a spectator may see it; null for a session that the caller may not watch. */
  look(gameId: string, token: string | null): { readonly stored: StoredSession; readonly viewer: Viewer } | null;
  view(stored: StoredSession, viewer: Viewer): GameView;
  /** The view of a session as it was when its log was `rows`. */
  viewOf(session: Session, viewer: Viewer, rows: StoredSession["rows"]): GameView;
  seats(gameId: string): readonly PlaySeat[];
  /** Whether the players of a league match are still being invited. */
  isInviting(gameId: string): boolean;
  /** The page of a game. With a role the link contains the token of that seat. */
  link(gameId: string, role?: Role): string;
  /**
   * The links of the people who play, by role, for the creator of the game. Null for a seat that sees what the creator may not know: its link
   * is shown only to the people at this host.
   */
  personLinks(gameId: string, asker: Role): Readonly<Record<Role, string | null>>;
  /** The one person's seat of a game, for the board in the host of the agent that made the game. */
  userSeat(gameId: string, asker: Role): PersonSeat | null;
  /** Resumes the bots of unfinished games after a restart. */
  resume(): void;
}

export function createPlay(desk: PlayDesk): Play {
  const { host, seats, bots } = desk;
  /** Seats that are being taken now. */
  const joining = new Set<string>();
  const viewOf: Play["viewOf"] = (session, viewer, rows) =>
    gameView(session, viewer, rows, seats.of(session.id), host.lobby);
  return {
    create: (request) => createGame(desk, request),
    open: (table) => openGame(desk, table),
    join: (gameId, joiner) => joinGame(desk, joining, gameId, joiner),
    seatOf: (gameId, token) => seatOf(desk, gameId, token),
    look: (gameId, token) => lookAt(desk, gameId, token),
    view: ({ session, rows }, viewer) => viewOf(session, viewer, rows),
    viewOf,
    seats: seats.of,
    isInviting: host.lobby.isInviting,
    link: (gameId, role) => linkOf(desk, gameId, role),
    personLinks: (gameId, asker) => personLinks(desk, gameId, asker),
    userSeat: (gameId, asker) => userSeat(desk, gameId, asker),
    resume() {
      for (const sessionId of seats.withBots()) {
        for (const { kind, role, name } of seats.of(sessionId)) if (kind === "bot") bots.play(sessionId, role, name);
      }
    },
  };
}
