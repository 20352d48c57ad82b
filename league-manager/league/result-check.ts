import { isDeepStrictEqual } from "node:util";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { faultsOfMatch } from "#shared/session/match-result.ts";
import type { MatchSummary } from "./events.ts";
import type { League, Match } from "./league.ts";
import { forfeitOf, rolesOf } from "./outcome.ts";

/**
 * The fault of a reported result, or null. The session log decides: all other fields must follow from it by the rules of the game, the
 * league's options and the seed of the match.
 */
export function faultOfResult(league: League, match: Match, seed: string, result: MatchResult): string | null {
  if (result.round_id !== match.roundId) return `round ${result.round_id} is not the match's`;
  if (result.termination === "aborted" && result.log.length === 0)
    return faultOfUnplayed(league, match.players, result);
  const { game, options } = league;
  return faultsOfMatch({ ...result, game, options, seed, roles: rolesOf(league, match) })[0] ?? null;
}

/** The fault of a result without a session log, or null: only an abort or a forfeit of absent players has no log. */
export function faultOfUnplayed(
  league: Pick<League, "game" | "roles">,
  players: readonly string[],
  result: Omit<MatchSummary, "reason">,
): string | null {
  const { winner, match_points, final_scores, faults, log_head, termination } = result;
  if (termination === "normal" || log_head !== "") return "a result without its log";
  if (termination === "aborted") {
    const given = [...Object.keys({ ...match_points, ...final_scores }), ...faults];
    const isEmpty = winner === null && given.length === 0;
    return isEmpty ? null : "an aborted match without a log has neither winner nor points nor faults";
  }
  const absent = faults.map((fault) => fault.player_id);
  const forfeited = forfeitOf(league, players, absent, () => faults[0]?.detail ?? "");
  const told = { winner, match_points, final_scores, faults };
  return absent.length > 0 && isDeepStrictEqual(told, forfeited)
    ? null
    : "a forfeit without a log is lost by who was absent";
}
