import type { Game } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { memoized } from "#shared/lib/memoized.ts";
import { Timeouts } from "#shared/protocol/message-fields.ts";
import type { Acceptance, CheckContext, CheckId } from "./check.ts";
import { gamesToCheck, inviteTo } from "./checks/invitation.ts";
import type { Caller } from "./league/caller.ts";
import type { GivenOptions } from "./league/game-settings.ts";
import { Matches } from "./league/matches.ts";
import type { RegistrationRecord } from "./league/registration-desk.ts";
import type { Subject } from "./league/subject.ts";
import { type CheckResult, runChecks, selectedChecks } from "./run-checks.ts";

interface CheckOptions {
  /** The client with which the player is called. It is closed at the end. */
  readonly caller: Caller;
  readonly clock: Clock;
  readonly ids: Ids;
  /** null if the player has not registered. */
  readonly subject: Subject | null;
  /** null for a player that is checked at its URL. */
  readonly registration: RegistrationRecord | null;
  /** The checks to run, with those that they need; null for all. */
  readonly only: readonly CheckId[] | null;
  /** The games to check; null for all games that the player claims to play. */
  readonly games: readonly Game[] | null;
  /** Options of one game, which is played only with them; by default the games have their default options and a few others. */
  readonly gameOptions?: GivenOptions | null;
  /** The time limit of a move, in milliseconds. */
  readonly moveMs: number;
  /** The time limit of an invitation, in milliseconds; that of a league by default. */
  readonly joinMs?: number;
  /** Called with each result, and with the tokens and signatures that no output may contain. */
  readonly onResult: (result: CheckResult, secrets: readonly string[]) => void;
  /** Returns the lines that the player has printed since the last call. */
  readonly takeOutput?: () => readonly string[];
}

/** Checks a player. Resolves with the results in the order of the checks. */
export async function checkPlayer(options: CheckOptions): Promise<readonly CheckResult[]> {
  const { caller, clock, ids, subject, registration, only, games, moveMs, onResult, takeOutput } = options;
  const { joinMs = Timeouts.parse({}).join_ms, gameOptions } = options;
  const matches = new Matches(caller, clock, ids, { join_ms: joinMs, move_ms: moveMs }, gameOptions);
  const context: CheckContext = {
    ...{ clock, ids, caller, matches, registration, subject, moveMs },
    onlyGames: games,
    // Each invitation has a time limit. A failure would be the same again: the player plays no game of the check.
    firstInvitation: memoized(() => firstInvitation(context)),
    facts: { games: [], moves: [] },
  };
  try {
    const secrets = (): readonly string[] => [subject?.token ?? "", ...caller.secrets()];
    return await runChecks(selectedChecks(only), context, (result) => onResult(result, secrets()), takeOutput);
  } finally {
    await caller.peers.close();
  }
}

/** Invites the player to the first game that it plays. A player whose games are not known may decline some games. */
async function firstInvitation(context: CheckContext): Promise<Acceptance> {
  let last: Acceptance | null = null;
  for (const game of gamesToCheck(context)) {
    last = await inviteTo(context, game);
    if (last.fault?.cause !== "declined" || context.subject?.games !== null) break;
  }
  if (last === null) throw new Error("the player plays no game of the check");
  return last;
}
