import { isDeepStrictEqual } from "node:util";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { faultsOfReplayed } from "#shared/session/match-result.ts";
import { replayTexts } from "#shared/session/replay.ts";
import type { MatchSummary } from "./events.ts";
import { matchOf } from "./evolve.ts";
import { type League, type Match, optionsOf } from "./league.ts";
import { forfeitOf, rolesOf } from "./outcome.ts";

/**
 * Returns the first fault of a reported result, or null. All fields must follow from the session log by the rules of the game, the options of the
 * league and the seed of the match. `replayed` is the replay of the log with this seed, if the caller has it.
 */
export function faultOfResult(
  league: League,
  match: Match,
  seed: string,
  result: MatchResult,
  replayed?: ReturnType<typeof replayTexts>,
): string | null {
  if (result.round_id !== match.roundId) return `round ${result.round_id} is not the round of the match`;
  if (result.termination === "aborted" && result.log.length === 0)
    return faultOfUnplayed(league, match.players, result);
  const { game, clock } = league;
  const options = optionsOf(league, match);
  const reported = { ...result, game, options, clock, seed, roles: rolesOf(league, match) };
  return faultsOfReplayed(reported, replayed ?? replayedOnce(result.log, seed))[0] ?? null;
}

interface Replay {
  readonly seed: string;
  readonly replayed: ReturnType<typeof replayTexts>;
}

/** The last replay of each log. */
const replays = new WeakMap<readonly string[], Replay>();

function replayedOnce(log: readonly string[], seed: string): Replay["replayed"] {
  const known = replays.get(log);
  if (known?.seed === seed) return known.replayed;
  const replayed = replayTexts(log, seed);
  replays.set(log, { seed, replayed });
  return replayed;
}

/**
 * Replays the log of a result if the referee may report it. To be called before the command that records the result: several managers replay at the same
 * time, but decide one after the other.
 */
export function replayInAdvance(league: League | null, result: MatchResult, refereeId: string, seed: string): void {
  const match = league && matchOf(league, result.match_id);
  if (match?.status === "assigned" && match.refereeId === refereeId && match.epoch === result.epoch)
    replayedOnce(result.log, seed);
}

/** Returns the fault of a result without a session log, or null. Only an abort and a forfeit of absent players have no log. */
export function faultOfUnplayed(
  league: Pick<League, "game" | "roles">,
  players: readonly string[],
  result: Omit<MatchSummary, "reason">,
): string | null {
  const { winner, match_points, final_scores, faults, log_head, termination } = result;
  if (termination === "normal" || log_head !== "") return "a result without its log";
  if (termination === "aborted") {
    const entries = [...Object.keys({ ...match_points, ...final_scores }), ...faults];
    const isEmpty = winner === null && entries.length === 0;
    return isEmpty ? null : "an aborted match without a log has neither winner nor points nor faults";
  }
  const [first] = faults;
  const absent = faults.map((fault) => fault.player_id);
  const expected = first && forfeitOf(league, players, absent, () => first.detail);
  return isDeepStrictEqual({ winner, match_points, final_scores, faults }, expected)
    ? null
    : "a forfeit without a log must be a loss of the absent players and their teams";
}
