import { chainHash, GENESIS } from "#shared/lib/hash-chain.ts";
import { messageOf } from "#shared/lib/result.ts";
import { LeagueEvent } from "../../league-manager/league/events.ts";
import { evolveLeague } from "../../league-manager/league/evolve.ts";
import type { League } from "../../league-manager/league/league.ts";
import { leagueLogFile } from "./files.ts";
import type { LoggedLeague } from "./format.ts";
import { parseJson, readLines, type Source } from "./source.ts";

/** One event of a league's log with the league before it. */
export interface LoggedEvent {
  readonly before: League | null;
  readonly event: LeagueEvent;
}

/** The log of a league as far as it can be folded. */
export interface LeagueLog {
  readonly file: string;
  readonly steps: readonly LoggedEvent[];
  /** The fold of all events; null if one of them cannot follow. */
  readonly league: League | null;
}

/** Reads the log of a league: its chain and every event, which must follow from the events before it. */
export function readLeagueLog(source: Source, { league_id, log_head }: LoggedLeague): LeagueLog {
  const file = leagueLogFile(league_id);
  const lines = readLines(source, file);
  if (lines.reduce(chainHash, GENESIS) !== log_head)
    source.findings.blame(file, "its chain does not end in its log_head");
  const steps: LoggedEvent[] = [];
  let league: League | null = null;
  for (const [index, line] of lines.entries()) {
    try {
      const event = LeagueEvent.parse(parseJson(line));
      steps.push({ before: league, event });
      league = evolveLeague(league, event);
    } catch (thrown) {
      source.findings.blame(file, `event ${index}: ${messageOf(thrown)}`);
      return { file, steps: [], league: null };
    }
  }
  if (!league) source.findings.blame(file, "has no events");
  return { file, steps, league };
}
