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
 * Checks a league that has ended: its results, its logs, its standings, and that what players were shown is in the logs. An abort is a fault,
 * also of a match that was then played again: a kill takes a match from its referee, and only an error of our programs or `match_ms` aborts it.
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
  const seen = existsSync(seenFile) ? readFileSync(seenFile, "utf8").trim().split("\n") : [];
  const views = seen.flatMap((line) => parsedSeen(line));
  // A log that cannot be replayed has been found already.
  if (faults.length === 0) faults.push(...faultsOfViews(matches, views));
  const aborts = leagues.flatMap(({ league_id }) => abortsOf(league_id, files.get(leagueLogFile(league_id)) ?? ""));
  return { faults: [...faults, ...aborts], matches, seenViews: views.length, aborts: aborts.length };
}

/** The aborts of a league's matches by its log, one text each. */
function abortsOf(leagueId: string, log: string): readonly string[] {
  const events = log.split("\n").flatMap((line) => (line === "" ? [] : [parseLeagueEvent(line)]));
  return events.flatMap((event) => {
    if (event.type === "match_aborted")
      return [`${matchRef(leagueId, event.match_id)} was aborted for good: ${event.reason}`];
    const isAbort = event.type === "match_released" && (event.reason === "aborted" || event.reason === "overdue");
    return isAbort ? [`${matchRef(leagueId, event.match_id)} was aborted and played again: ${event.detail}`] : [];
  });
}

/** The last line of a player that was killed while writing is no JSON. */
function parsedSeen(line: string): Seen[] {
  try {
    return [JSON.parse(line) as Seen];
  } catch {
    return [];
  }
}

/** What players were shown must be what the final log gives at that tick: nothing that counted was lost. */
function faultsOfViews(matches: readonly ExportedMatch[], views: readonly Seen[]): string[] {
  const faults: string[] = [];
  for (const match of matches) {
    const mine = views.filter(
      (seen) => seen.league_id === match.league_id && seen.match_id === match.match_id && seen.epoch === match.epoch,
    );
    const created = match.log[0] === undefined ? null : parseEntry(match.log[0]);
    if (created?.type !== "created") continue;
    const states = statesByTick(created, match);
    for (const { role, tick, view } of mine) {
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
