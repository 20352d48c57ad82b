import { chainHash, GENESIS } from "#shared/lib/hash-chain.ts";
import { messageOf } from "#shared/lib/result.ts";
import { LeagueEvent } from "../../league-manager/league/events.ts";
import { evolveLeague } from "../../league-manager/league/evolve.ts";
import type { League } from "../../league-manager/league/league.ts";
import { leagueLogFile } from "./files.ts";
import { type LoggedLeague, MAX_PLAYERS } from "./format.ts";
import { parseJson, readLines, type Source } from "./source.ts";
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

/** Reads the log of a league: its chain, every event, which must follow from the events before it, and its course. */
export function readLeagueLog(source: Source, { league_id, log_head }: LoggedLeague): LeagueLog {
  const file = leagueLogFile(league_id);
  const lines = readLines(source, file);
  if (lines.reduce(chainHash, GENESIS) !== log_head)
    source.findings.blame(file, "its chain does not end in its log_head");
  const course = checkCourse(source.findings, file);
  const steps: LoggedEvent[] = [];
  let league: League | null = null;
  for (const [index, line] of lines.entries()) {
    try {
      const event = LeagueEvent.parse(parseJson(line));
      const after = evolveLeague(league, event);
      if (after.entrants.size > MAX_PLAYERS) throw new Error(`a league has at most ${MAX_PLAYERS} players`);
      course.step(league, event);
      steps.push({ event });
      league = after;
    } catch (thrown) {
      source.findings.blame(file, `event ${index}: ${messageOf(thrown)}`);
      return { file, steps: [], league: null };
    }
  }
  if (!league) source.findings.blame(file, "has no events");
  course.end();
  return { file, steps, league };
}
