import type { z } from "zod";
import { currentMatches, endOfRound, type League } from "../league/league.ts";
import { waitingText } from "../projections/lines.ts";
import type { Views } from "../projections/views.ts";
import type { LeagueStatus } from "./operation-schemas.ts";

type Row = z.infer<typeof LeagueStatus>["leagues"][number];

/** The state of a league for its operator. */
export function leagueStatus({ projections, awaited }: Pick<Views, "projections" | "awaited">, league: League): Row {
  const { leagueId, game, format, formatOptions, startsAt, rounds, currentRound, matchCount, completedCount } = league;
  const result = projections.result(league);
  const waits = awaited(league);
  const endMs = currentRound === null ? null : endOfRound(league, currentRound);
  return {
    ...{ league_id: leagueId, game, format, format_options: { ...formatOptions } },
    late_entry: league.lateEntry,
    clock: league.clock && { ...league.clock },
    version: league.version,
    status: league.isPaused ? "paused" : league.status,
    starts_at: league.status === "open" ? startsAt : null,
    waits_for: waits && waitingText(waits),
    ...{ current_round: currentRound, rounds: rounds.length },
    round_ends_at: endMs === null ? null : new Date(endMs).toISOString(),
    ...{ matches: matchCount, completed: completedCount },
    being_played: currentMatches(league).filter(({ status }) => status === "assigned").length,
    expected_matches: league.status === "open" ? null : projections.expectedMatches(league),
    result: result && { ...result, pairs: [...result.pairs] },
    players: projections.standings(league).map(({ player_id, display_name, rank, points }) => ({
      ...{ player_id, display_name, rank, points },
      state: projections.agent(player_id)?.state ?? null,
    })),
  };
}
