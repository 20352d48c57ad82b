import type { CodenamesView } from "#shared/games/codenames-view.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { Session } from "#shared/session/session.ts";
import type { Writer } from "#shared/store/writer.ts";
import type { Play } from "../play/play.ts";
import type { SessionHost } from "../sessions/host.ts";
import { type SessionView, seatView, spectatorView } from "../views/session-views.ts";
import type { CodenamesTable, LedGame } from "./table.ts";

/** The parts that a director uses. */
export interface DirectorContext {
  readonly host: SessionHost;
  readonly play: Play;
  readonly table: CodenamesTable;
  readonly writer: Writer;
  readonly log: Logger;
}

/** The purpose with which the token of a game is derived from the seed. */
export const TOKEN_PURPOSE = "game_token";

export const tokenOf = ({ host }: DirectorContext, sessionId: string): string =>
  host.secret(sessionId, TOKEN_PURPOSE) ?? "";

export function sessionOf({ host }: DirectorContext, sessionId: string): Session {
  const stored = host.read(sessionId);
  if (!stored) throw new Error(`session ${sessionId} is not in the log`);
  return stored.session;
}

export function ledGame({ table }: DirectorContext, sessionId: string): LedGame {
  const game = table.get(sessionId);
  if (!game) throw new Error(`session ${sessionId} is not a game of create_new_game`);
  return game;
}

export const isOpen = (context: DirectorContext, { sessionId }: LedGame): boolean =>
  sessionOf(context, sessionId).status === "active";

export async function endGame({ host }: DirectorContext, sessionId: string): Promise<void> {
  await host.abort(sessionId, "ended_by_user");
}

/** The public view of the board. After the game the key is public, so it is the view of a spymaster. */
export const publicBoard = (session: Session): SessionView =>
  session.status === "active" ? spectatorView(session) : seatView(session, "red_spymaster");

/** The words, clues and guesses as a spectator may see them. */
export const publicView = (session: Session): CodenamesView => spectatorView(session).state as CodenamesView;
