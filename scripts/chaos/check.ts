import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { type Entry, parseEntry } from "#shared/session/entry.ts";
import { evolve, evolveCreated, type Session } from "#shared/session/session.ts";
import { parseLeagueEvent } from "../../league-manager/league/events.ts";
import { exportOf } from "../archive/export/export-store.ts";
import { findStore } from "../archive/export/find-store.ts";
import { leagueLogFile, writeExport } from "../archive/files.ts";
import type { ExportedMatch } from "../archive/format.ts";
import { verifyExport } from "../archive/verify/verify.ts";
import type { RunFolder } from "../run/run-folder.ts";
import type { Seen } from "./bot.ts";

/**
 * Checks a league that has ended: its results, logs and standings, and that the views of its players are in the logs. Every abort is a fault, even if
 * the match was played again: a killed referee only loses its match, and only an error of this project or `match_ms` aborts a match.
 */
export async function check(folder: Pick<RunFolder, "path" | "config">, seenFile: string) {
  const { leagues, players } = folder.config;
  const out = join(folder.path, "export");
  const { files } = await exportOf(findStore(folder.path));
  writeExport(out, files);
  const verified = verifyExport(out);
  const faults = verified.faults.map(({ file, message }) => `${file}: ${message}`);
  const matches = [...files]
    .filter(([name]) => name.startsWith("matches"))
    .map(([, text]) => JSON.parse(text) as ExportedMatch);
  const expected = (players.length * (players.length - 1)) / 2;
  for (const { league_id } of leagues) {
    const played = matches.filter((match) => match.league_id === league_id);
    if (played.length !== expected) faults.push(`${league_id} has ${played.length} results, not ${expected}`);
  }
  const lines = existsSync(seenFile) ? readFileSync(seenFile, "utf8").trim().split("\n") : [];
  const views = lines.flatMap(parseSeen);
  // Views can be compared only with logs that replay.
  if (faults.length === 0) faults.push(...faultsOfViews(matches, views));
  const aborts = leagues.flatMap(({ league_id }) => abortsOf(league_id, files.get(leagueLogFile(league_id)) ?? ""));
  return { faults: [...faults, ...aborts], matches, seenViews: views.length, aborts: aborts.length };
}

/** Returns a text for each abort in the log of a league. */
function abortsOf(leagueId: string, log: string): readonly string[] {
  const events = log.split("\n").flatMap((line) => (line === "" ? [] : [parseLeagueEvent(line)]));
  return events.flatMap((event) => {
    if (event.type === "match_aborted")
      return [`${matchRef(leagueId, event.match_id)} was aborted and not played again: ${event.reason}`];
    const isAbort = event.type === "match_released" && (event.reason === "aborted" || event.reason === "overdue");
    return isAbort ? [`${matchRef(leagueId, event.match_id)} was aborted and played again: ${event.detail}`] : [];
  });
}

/** Parses a line of a player; none if the line is incomplete because the player was killed. */
function parseSeen(line: string): Seen[] {
  try {
    return [JSON.parse(line) as Seen];
  } catch {
    return [];
  }
}

/** Returns a fault for each view that differs from the state of the final log at its tick. A difference means that a committed move was lost. */
function faultsOfViews(matches: readonly ExportedMatch[], views: readonly Seen[]): string[] {
  const faults: string[] = [];
  for (const match of matches) {
    const viewsOfMatch = views.filter(
      (seen) => seen.league_id === match.league_id && seen.match_id === match.match_id && seen.epoch === match.epoch,
    );
    const created = match.log[0] === undefined ? null : parseEntry(match.log[0]);
    if (created?.type !== "created") continue;
    const states = statesByTick(created, match);
    for (const { role, tick, view } of viewsOfMatch) {
      const session = states.get(tick);
      if (!session || !isDeepStrictEqual(session.game.viewState(session.state, role), view)) {
        faults.push(
          `${match.league_id}/${match.match_id}: ${role} was shown a state at tick ${tick} that is not in the log`,
        );
      }
    }
  }
  return faults;
}

/** Replays the log of a match. Returns the session after each tick, by tick. */
function statesByTick(
  created: Extract<Entry, { type: "created" }>,
  match: ExportedMatch,
): ReadonlyMap<number, Session> {
  const game = findGame(created.game);
  if (!game) return new Map();
  let session = evolveCreated(game, created, match.seed);
  const states = new Map([[0, session]]);
  for (const entry of match.log.slice(1).map(parseEntry)) {
    session = evolve(session, entry);
    if (entry.type === "acted") states.set(session.tick, session);
  }
  return states;
}
