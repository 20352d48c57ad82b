import type { Role, Viewer } from "#shared/games/game.ts";
import type { Result } from "#shared/lib/result.ts";
import type { Session } from "#shared/session/session.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { StoredSession } from "../sessions/live-sessions.ts";
import type { Rejection } from "../sessions/rejections.ts";
import type { PersonSeat, PlaySeat } from "../sessions/seats.ts";
import { gameView } from "../views/game-view.ts";
import type { PlayContext } from "./context.ts";
import { type AssignedGame, createGame, type NewGame, openGame, type TakenSeat } from "./creation.ts";
import { type Joiner, joinGame } from "./joining.ts";
import { linkOf, personLinks, userSeat } from "./links.ts";
import { accessTo, type SeatAccess, seatOf } from "./seat-access.ts";

/** The games outside of leagues: their seats, and the callers that may act for a seat. */
export interface Play {
  /** Creates a game and gives its creator a seat. */
  create(request: NewGame): Promise<Result<TakenSeat, Rejection>>;
  /** Opens a game whose seats are all assigned. */
  open(game: AssignedGame): Promise<Session>;
  /** Takes an open seat; by default the first one. */
  join(gameId: string, joiner: Joiner): Promise<Result<TakenSeat, Rejection>>;
  /** The seat of a token, which is the token of the seat or a bearer token to which the seat is bound. */
  seatOf(gameId: string, token: string | null): Result<SeatAccess, Rejection>;
  /** A session with the viewer as which the holder of a token may read it; null if the caller may not read it. */
  accessTo(gameId: string, token: string | null): { readonly stored: StoredSession; readonly viewer: Viewer } | null;
  /** The view of a game for the pages, boards and tools. */
  view(stored: StoredSession, viewer: Viewer): GameView;
  /** The view of a session when its log was `rows`. */
  viewOf(session: Session, viewer: Viewer, rows: StoredSession["rows"]): GameView;
  /** The seats of a game; empty for other sessions. */
  seats(gameId: string): readonly PlaySeat[];
  /** Whether the players of a league match are still being invited. */
  isInviting(gameId: string): boolean;
  /** The URL of the page of a game. With a role it contains the token of that seat. */
  link(gameId: string, role?: Role): string;
  /**
   * The links of the people who play, by role, for the creator of the game. null for a seat that sees information that the creator may not
   * know: its link is shown only at the terminal of this host.
   */
  personLinks(gameId: string, asker: Role): Readonly<Record<Role, string | null>>;
  /** The seat of the only person in a game, for the board in the MCP host of the agent that created the game. */
  userSeat(gameId: string, asker: Role): PersonSeat | null;
  /** Resumes the bots of unfinished games after a restart. */
  resume(): void;
}

export function createPlay(context: PlayContext): Play {
  const { host, seats, bots, clock } = context;
  /** The keys of seats that are being taken. */
  const joining = new Set<string>();
  const viewOf: Play["viewOf"] = (session, viewer, rows) =>
    gameView(session, viewer, rows, seats.of(session.id), host.lobby, clock.now());
  return {
    create: (request) => createGame(context, request),
    open: (game) => openGame(context, game),
    join: (gameId, joiner) => joinGame(context, joining, gameId, joiner),
    seatOf: (gameId, token) => seatOf(context, gameId, token),
    accessTo: (gameId, token) => accessTo(context, gameId, token),
    view: ({ session, rows }, viewer) => viewOf(session, viewer, rows),
    viewOf,
    seats: seats.of,
    isInviting: host.lobby.isInviting,
    link: (gameId, role) => linkOf(context, gameId, role),
    personLinks: (gameId, asker) => personLinks(context, gameId, asker),
    userSeat: (gameId, asker) => userSeat(context, gameId, asker),
    resume() {
      for (const sessionId of seats.withBots()) {
        for (const { kind, role, name } of seats.of(sessionId)) if (kind === "bot") bots.play(sessionId, role, name);
      }
    },
  };
}
