import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#shared/lib/clock.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { leagueStream, parseLeagueEvent } from "../../league-manager/league/events.ts";
import { evolveLeague } from "../../league-manager/league/evolve.ts";
import type { League } from "../../league-manager/league/league.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import { stateLine, waitingLine } from "../../league-manager/projections/live-lines.ts";
import { eventsOf, loadState } from "../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore } from "../../league-manager/store/manager-store.ts";
import { type Progress, silentProgress } from "../run/progress.ts";
import { runLeagues } from "../run/run.ts";
import type { RunFolder } from "../run/run-folder.ts";
import { type MatchTerms, matchState } from "./comparison.ts";
import { createLiveLine, createPace, type Pace, statusText } from "./live-line.ts";
import type { Ended } from "./local/play-locally.ts";
import { LEAGUE_ID } from "./setup.ts";

interface WirePlay {
  readonly clock: Clock;
  readonly folder: RunFolder;
  readonly matchTerms: MatchTerms;
  readonly isQuiet: boolean;
}

/** Plays the games of a run as a league of processes. */
export async function playOverWire({ clock, folder, matchTerms, isQuiet }: WirePlay): Promise<Ended> {
  const match = { folder: folder.path, leagueId: LEAGUE_ID, terms: matchTerms };
  const progress = isQuiet ? silentProgress : wireProgress(process.stderr, clock, match);
  const exitCode = await runLeagues({
    folder,
    clock,
    progress,
    warn: (line) => (isQuiet ? void process.stderr.write(`${line}\n`) : progress.line(line)),
    keep: false,
    onCompleted: () => {},
  });
  return { league: await storedLeague(folder.path, LEAGUE_ID), exitCode };
}

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
  let stored: FollowedLeague | null = null;
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

/** A league in the store of a run, which another process may be writing. */
interface FollowedLeague {
  /** Returns the league with all events that are in the store now; null if the store does not have the league. Reads only the new events. */
  current(): Promise<League | null>;
  close(): void;
}

/** Opens the store of a run to read a league; null if the run has no store. */
export function openStoredLeague(folder: string, leagueId: string): FollowedLeague | null {
  const file = join(folder, "league-manager.sqlite");
  if (!existsSync(file)) return null;
  const db = openSqlite(file, MANAGER_SCHEMA);
  const store = managerStore(db, noWriter);
  let league: League | null = null;
  const read = async (): Promise<League | null> => {
    if (league === null) {
      const { state } = await loadState(store, [leagueId]);
      league = state.leagues.get(leagueId) ?? null;
      return league;
    }
    for await (const events of eventsOf(store, leagueStream(leagueId), league.version))
      for (const { body } of events) league = evolveLeague(league, parseLeagueEvent(body));
    return league;
  };
  // Each call continues with the league of the call before.
  let latest: Promise<League | null> = Promise.resolve(null);
  return {
    current() {
      latest = latest.then(read, read);
      return latest;
    },
    close: () => db.close(),
  };
}

/** Reads a league from the store of a run; null if it has none. */
export async function storedLeague(folder: string, leagueId: string): Promise<League | null> {
  const stored = openStoredLeague(folder, leagueId);
  try {
    return (await stored?.current()) ?? null;
  } finally {
    stored?.close();
  }
}
