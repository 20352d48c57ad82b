import { LeagueEvent } from "../../../league-manager/league/events.ts";
import { evolveLeague, matchOf } from "../../../league-manager/league/evolve.ts";
import type { League, Match } from "../../../league-manager/league/league.ts";
import { leagueLogFile } from "../files.ts";
import { type LoggedLeague, MAX_PLAYERS } from "../format.ts";
import { checkCourse } from "./course.ts";
import { readLog } from "./log-file.ts";
import type { Source } from "./source.ts";

/** The log of a league. The states between its events are not kept, because those of a large league need gigabytes. */
export interface LeagueLog {
  readonly file: string;
  /** The events; empty if an event does not follow from the events before it. */
  readonly events: readonly LeagueEvent[];
  /** The fold of all events; null if an event does not follow from the events before it. */
  readonly league: League | null;
  /** The annulled matches as they were before, by match id. */
  readonly annulled: ReadonlyMap<string, Match>;
}

/** Reads the log of a league. Blames the file if an event does not follow from the events before it or breaks the rules of `checkCourse`. */
export function readLeagueLog(source: Source, { league_id, log_head, seed }: LoggedLeague): LeagueLog {
  const file = leagueLogFile(league_id);
  const course = checkCourse(source.findings, file, seed);
  const events: LeagueEvent[] = [];
  const annulled = new Map<string, Match>();
  let league: League | null = null;
  const isSound = readLog(source, { file, schema: LeagueEvent, log_head }, (event) => {
    const after = evolveLeague(league, event);
    if (after.entrants.size > MAX_PLAYERS) throw new Error(`a league has at most ${MAX_PLAYERS} players`);
    course.step(league, event);
    events.push(event);
    const match = event.type === "match_annulled" && league ? matchOf(league, event.match_id) : null;
    if (match) annulled.set(match.matchId, match);
    league = after;
  });
  if (!isSound) return { file, events: [], league: null, annulled };
  course.end();
  return { file, events, league, annulled };
}
