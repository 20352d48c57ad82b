import { inOneLine } from "#shared/lib/text.ts";
import type { Match, RecordedResult } from "./league.ts";
import type { Standing } from "./standings.ts";

/** What the manager tells the terminal and the dashboard as it happens. */
export type LeagueEvent =
  | { readonly type: "registered"; readonly agent_id: string; readonly name: string; readonly kind: string }
  | { readonly type: "league_started"; readonly league_id: string; readonly game: string; readonly matches: number }
  | { readonly type: "round_started"; readonly league_id: string; readonly round_id: number }
  | {
      readonly type: "match_completed";
      readonly league_id: string;
      readonly match: MatchSummary;
      readonly completed: number;
      readonly matches: number;
      readonly standings: readonly Standing[];
    }
  | { readonly type: "league_completed"; readonly league_id: string; readonly standings: readonly Standing[] }
  | { readonly type: "notice"; readonly message: string }
  | { readonly type: "all_completed"; readonly document: ResultsDocument };

/** One match in the document of `league run --json` (DESIGN.md, section 7). */
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

/** How a match ended, in one line for people; nobody wins a match that both forfeit. */
export function resultLine(
  { winner, termination, reason }: Pick<MatchSummary, "winner" | "termination" | "reason">,
  standings: readonly Standing[],
): string {
  const word =
    winner === null
      ? { normal: "draw", forfeit: "nobody wins", aborted: "aborted" }[termination]
      : `${nameIn(standings, winner)} wins`;
  const why = inOneLine(reason);
  return why === word ? word : `${word} (${why.replaceAll("_", " ")})`;
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
