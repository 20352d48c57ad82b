import { cutTo, inOneLine } from "#shared/lib/text.ts";
import type { AgentState } from "#shared/protocol/lifecycle.ts";
import type { Standing } from "./league/standings.ts";
import type { Match, RecordedResult } from "./league.ts";

/** What the manager tells the terminal and the dashboard as it happens. */
export type LeagueEvent =
  | { readonly type: "registered"; readonly agent_id: string; readonly name: string; readonly kind: string }
  | { readonly type: "league_started"; readonly league_id: string; readonly game: string; readonly matches: number }
  | { readonly type: "round_started"; readonly league_id: string; readonly round_id: number }
  | {
      readonly type: "match_completed";
      readonly league_id: string;
      readonly match: MatchSummary;
      readonly faults: RecordedResult["faults"];
      readonly completed: number;
      readonly matches: number;
      readonly standings: readonly Standing[];
    }
  | { readonly type: "league_stuck"; readonly league_id: string; readonly why: string }
  | { readonly type: "league_completed"; readonly league_id: string; readonly standings: readonly Standing[] }
  | {
      readonly type: "player_state";
      readonly agent_id: string;
      readonly name: string;
      readonly was: AgentState;
      readonly state: AgentState;
      /** The leagues that it has entered. */
      readonly league_ids: readonly string[];
    }
  | { readonly type: "notice"; readonly message: string }
  | { readonly type: "all_completed"; readonly document: ResultsDocument };

/**
 * A player's new state, for people. null if another line says it already: the lines about the start and the end of a league include
 * its players, and a shutdown after timeouts has a notice.
 */
export function stateLine(event: Extract<LeagueEvent, { type: "player_state" }>): string | null {
  const { name, agent_id, was, state } = event;
  const player = `${name} (${agent_id})`;
  if (state === "SUSPENDED") return `${player} is suspended: it did not answer in time`;
  if (was === "SUSPENDED" && state === "ACTIVE") return `${player} is active again`;
  return state === "REGISTERED" ? `${player} is registered again` : null;
}

/** One match in the document of `league run --json`. */
export interface MatchSummary {
  readonly match_id: string;
  readonly round_id: number;
  readonly roles: Readonly<Record<string, string>>;
  readonly winner: string | null;
  readonly points: Readonly<Record<string, number>>;
  readonly termination: "normal" | "forfeit" | "aborted";
  readonly reason: string;
  readonly referee_id: string | null;
}

/** What people call a player; a player of no place goes by its id. */
export const nameIn = (standings: readonly Standing[], playerId: string): string =>
  standings.find((row) => row.player_id === playerId)?.display_name ?? playerId;

const DETAIL_CHARACTERS = 200;

/** How a match ended, in one line for people: who won, why, and of a forfeit whose fault it was. Nobody wins what both forfeit. */
export function resultLine(
  result: Pick<RecordedResult, "winner" | "termination" | "reason"> & {
    readonly faults: readonly { readonly player_id: string; readonly detail: string }[];
  },
  standings: readonly Standing[],
): string {
  const { winner, termination, reason, faults } = result;
  const word =
    winner === null
      ? { normal: "draw", forfeit: "nobody wins", aborted: "aborted" }[termination]
      : `${nameIn(standings, winner)} wins`;
  const details = faults.map((fault) => `${nameIn(standings, fault.player_id)}: ${fault.detail}`);
  const why = inOneLine(details.join("; ") || reason.replaceAll("_", " "));
  return why === word ? word : `${word} (${cutTo(DETAIL_CHARACTERS, why)})`;
}

export interface ResultsDocument {
  readonly leagues: readonly {
    readonly league_id: string;
    readonly game: string;
    readonly status: string;
    readonly matches: readonly MatchSummary[];
    readonly standings: readonly Standing[];
  }[];
}

export const summaryOf = (match: Match, result: RecordedResult): MatchSummary => ({
  match_id: match.matchId,
  round_id: match.roundId,
  roles: match.roles,
  winner: result.winner,
  points: result.match_points,
  termination: result.termination,
  reason: result.reason,
  referee_id: match.refereeId,
});
