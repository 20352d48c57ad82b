import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import { areCompleted, type LiveEvent, leagueCompleted, notice } from "./live.ts";
import type { Projections } from "./projections.ts";

/** The live events at the start of a manager, about the leagues in its store. A paused league does not continue until the operator resumes it. */
export function liveEventsAtStart(projections: Projections, dataFolder: string): readonly LiveEvent[] {
  const events = projections.leagues().flatMap((league): LiveEvent[] => {
    const { leagueId, status, isPaused, completedCount } = league;
    const matches = projections.expectedMatches(league) ?? league.matchCount;
    if (status === "completed") return [leagueCompleted(league, projections)];
    if (status === "open") return [];
    const progress = `${completedCount} of ${matches} matches are completed`;
    if (!isPaused) return [notice(`${leagueId} continues: ${progress}`)];
    const command = `${LEAGUE_COMMAND} resume ${leagueId} --data ${dataFolder}`;
    return [notice(`${leagueId} is paused (${progress}); continue it with: ${command}`)];
  });
  return areCompleted(projections) ? [...events, { type: "all_completed" }] : events;
}
