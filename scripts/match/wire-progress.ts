import type { Clock } from "#shared/lib/clock.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import { stateLine, waitingLine } from "../../league-manager/projections/live-lines.ts";
import type { Progress } from "../run/progress.ts";
import { createLiveLine, createPace, type Pace } from "./live-line.ts";
import { type MatchTerms, matchState } from "./result.ts";
import { statusText } from "./status-text.ts";
import { openStoredLeague, type StoredLeague } from "./stored-league.ts";

/** The league of a match whose games are played by processes. */
interface WireMatch {
  /** The folder of the run. */
  readonly folder: string;
  readonly leagueId: string;
  readonly terms: MatchTerms;
}

/**
 * Creates the progress of a match over HTTP. It shows the same live line as a local match. The events of the league manager do not have the games that
 * were played before a resumption, so the line is computed from the store of the manager.
 */
export function wireProgress(stream: NodeJS.WriteStream, clock: Clock, match: WireMatch): Progress {
  const { folder, leagueId, terms } = match;
  let stored: StoredLeague | null = null;
  let pace: Pace | null = null;
  const live = createLiveLine(stream, clock, async () => {
    if (pace === null) return ""; // the manager may not have created the store
    stored ??= openStoredLeague(folder, leagueId);
    const league = await stored?.current();
    return league ? statusText(matchState(league, terms), pace) : "";
  });
  return {
    line: live.print,
    event(event) {
      const line = lineOf(event);
      if (line !== null) live.print(line);
      if (event.type !== "match_completed") return;
      pace ??= createPace(clock, event.completed);
      live.changed();
    },
    end() {
      live.end();
      stored?.close();
      stored = null;
    },
  };
}

/** The line about an event that a person may have to act upon; null for other events. */
function lineOf(event: LiveEvent): string | null {
  if (event.type === "notice") return event.message;
  if (event.type === "player_state") return stateLine(event);
  return event.type === "league_waiting" ? waitingLine(event.league_id, event.awaited) : null;
}
