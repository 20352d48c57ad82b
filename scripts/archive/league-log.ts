import { LeagueEvent } from "../../league-manager/league/events.ts";
import { evolveLeague } from "../../league-manager/league/evolve.ts";
import type { League } from "../../league-manager/league/league.ts";
import { leagueLogFile } from "./files.ts";
import { type LoggedLeague, MAX_PLAYERS } from "./format.ts";
import { readLog } from "./log-file.ts";
import type { Source } from "./source.ts";
import { checkCourse } from "./verify-course.ts";

/** One event of a league's log. The leagues between the events are not kept: those of a large league need gigabytes. */
export interface LoggedEvent {
  readonly event: LeagueEvent;
}

/** The log of a league as far as it can be folded. */
export interface LeagueLog {
  readonly file: string;
  readonly steps: readonly LoggedEvent[];
  /** The fold of all events; null if one of them cannot follow. */
  readonly league: League | null;
}

/** Reads the log of a league: every event, which must follow from the events before it, and its course. */
export function readLeagueLog(source: Source, { league_id, log_head }: LoggedLeague): LeagueLog {
  const file = leagueLogFile(league_id);
  const course = checkCourse(source.findings, file);
  const steps: LoggedEvent[] = [];
  let league: League | null = null;
  const isSound = readLog(source, { file, schema: LeagueEvent, log_head }, (event) => {
    const after = evolveLeague(league, event);
    if (after.entrants.size > MAX_PLAYERS) throw new Error(`a league has at most ${MAX_PLAYERS} players`);
    course.step(league, event);
    steps.push({ event });
    league = after;
  });
  if (!isSound) return { file, steps: [], league: null };
  course.end();
  return { file, steps, league };
}
