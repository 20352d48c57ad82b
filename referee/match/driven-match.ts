import type { Game } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { type Ids, matchRef } from "#shared/lib/ids.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import type { Session } from "#shared/session/session.ts";
import type { SessionHost } from "../sessions/host.ts";
import type { MatchAnswerTimes } from "./answer-times.ts";
import type { Asker, SeatedPlayer } from "./ask.ts";
import type { AskFault } from "./ask-fault.ts";
import type { KnownHistory } from "./known-history.ts";

/** The part of a session host that plays matches. */
export interface MatchHost extends Pick<SessionHost, "read" | "submit" | "forfeit"> {
  readonly lobby: Pick<SessionHost["lobby"], "inviting">;
}

/** The context of the functions that play matches. */
export interface MatchDriver {
  readonly host: MatchHost;
  readonly asker: Asker;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called with each published fault, its system message and a description of the request, for the log of the process. */
  readonly onFault?: (player: SeatedPlayer, fault: AskFault, request: string) => void;
}

/** The driver of a session host, which also serves other interfaces. */
export interface HostedDriver extends MatchDriver {
  readonly host: SessionHost;
}

/** A match under way. */
export interface Match {
  readonly order: StartGame;
  readonly game: Game;
  /** The options of the session, including the defaults for options that the order does not set. */
  readonly options: unknown;
  /** The players that are asked over the wire. */
  readonly players: readonly SeatedPlayer[];
  /** The players that receive ROUND_RESULT. */
  readonly listeners: readonly SeatedPlayer[];
  /** Aborted when the match is withdrawn or the process stops. */
  readonly signal: AbortSignal;
  /** The number of rounds that the players have been notified of or that were closed before this driver began. */
  closedRounds: number;
  readonly answerTimes: MatchAnswerTimes;
  readonly knownHistory: KnownHistory;
}

/** Thrown when the match was withdrawn from this driver or its process stops. The session is not changed. */
export class MatchWithdrawn extends Error {}

/** Throws MatchWithdrawn if the match was withdrawn. */
export function stopIfWithdrawn({ signal, order }: Match): void {
  if (signal.aborted) throw new MatchWithdrawn(matchRef(order.league_id, order.match_id));
}

/** Returns the committed session. Throws if there is none. */
export function sessionOf({ host }: Pick<MatchDriver, "host">, sessionId: string): Session {
  const stored = host.read(sessionId);
  if (!stored) throw new Error(`session ${sessionId} is not in the log`);
  return stored.session;
}
