import { isDeepStrictEqual } from "node:util";
import { roundRobin } from "#shared/formats/round-robin.ts";
import { findGame } from "#shared/games/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { matchSeed, type SeedRule } from "#shared/session/match-seed.ts";
import { type League, numbered, positionOf } from "../../../league-manager/league/league.ts";
import { rolesOf } from "../../../league-manager/league/outcome.ts";
import { faultOfUnplayed } from "../../../league-manager/league/result-check.ts";
import { RUN_FILE } from "../files.ts";
import { type ExportedMatch, MAX_PLAYERS, type UnloggedLeague, type UnloggedRun } from "../format.ts";
import { type CheckedLeague, type CheckedMatch, checkMatches } from "./match.ts";
import type { Source } from "./source.ts";

/** The exception of an export without a league log. */
export const NO_LEAGUE_LOG = "no league log: pairings, epochs, referees and names were not checked";

/** Checks a league of an export of an earlier version: its matches, their seeds, and that a completed league has every scheduled match. */
export function checkUnlogged(source: Source, run: UnloggedRun, league: UnloggedLeague): CheckedLeague {
  const { findings } = source;
  const matches = checkMatches(source, league, RUN_FILE);
  const seedRule = SEED_RULES[run.format];
  for (const { file, match } of matches) {
    const { seed } = run;
    if (seed !== null && match.seed !== matchSeed({ seed, seedRule }, league.league_id, match.match_id, match.epoch))
      findings.blame(file, "its seed does not follow from the seed of the run");
    if (match.annulled_log) findings.blame(file, "has an annulled_log, but the export has no log of the league");
    if (match.log.length > 0) continue;
    const fault = faultWithoutLog(match);
    if (fault !== null) findings.blame(file, fault);
    else findings.except(file, `${matchRef(match.league_id, match.match_id)} has no log (${match.termination})`);
  }
  for (const message of unloggedFaults(league)) findings.blame(RUN_FILE, `${league.league_id}: ${message}`);
  checkRounds(source, league, matches);
  const played = matches.map(({ match }) => match);
  if (league.status === "completed") {
    for (const missing of missingFrom(league, played))
      findings.blame(RUN_FILE, `${league.league_id} is completed without ${missing}`);
  }
  const listed = new Set(league.matches);
  const unplayed = scheduleOf(league).filter(({ match_id }) => !listed.has(match_id)).length;
  return { matches, league: null, unplayed: league.status === "completed" ? null : unplayed, discarded: 0 };
}

const STATUSES: readonly string[] = ["open", "running", "completed"] satisfies readonly League["status"][];

function unloggedFaults({ status, players }: UnloggedLeague): readonly string[] {
  const duplicates = [...Map.groupBy(players, ({ player_id }) => player_id)].filter(([, same]) => same.length > 1);
  const faults = duplicates.map(([playerId]) => `lists the player ${playerId} twice`);
  return STATUSES.includes(status) ? faults : [...faults, `${JSON.stringify(status)} is not a status of a league`];
}

/** Checks that each match belongs to a scheduled round. A match that the operator added to a round is an exception. */
function checkRounds({ findings }: Source, league: UnloggedLeague, matches: readonly CheckedMatch[]): void {
  const schedule = scheduleOf(league);
  if (schedule.length === 0) return;
  const scheduled = new Set(schedule.map(({ match_id }) => match_id));
  const rounds = new Set(schedule.map(({ round_id }) => round_id));
  for (const { file, match } of matches) {
    const { match_id, round_id } = match;
    if (positionOf(match_id)?.roundId !== round_id || !rounds.has(round_id))
      findings.blame(file, `${match_id} in round ${round_id} is outside the schedule`);
    else if (!scheduled.has(match_id))
      findings.except(file, `${matchRef(league.league_id, match_id)} was added by the operator`);
  }
}

const SEED_RULES: Readonly<Record<UnloggedRun["format"], SeedRule>> = {
  "agent-league.export.v1": "per_match",
  "agent-league.export.v2": "per_epoch",
};

function faultWithoutLog(match: ExportedMatch): string | null {
  const roles = findGame(match.game)?.roles ?? Object.keys(match.roles);
  const players = roles.map((role) => match.roles[role] ?? "");
  return faultOfUnplayed({ game: match.game, roles }, players, match);
}

interface ScheduledMatch {
  readonly match_id: string;
  readonly round_id: number;
  readonly roles: Readonly<Record<string, string>>;
}

/** Returns the round-robin matches of a league's players, without matches that the operator added; none if there are too many players. */
function scheduleOf({ game, players }: UnloggedLeague): readonly ScheduledMatch[] {
  const roles = findGame(game)?.roles ?? [];
  const ids = [...new Set(players.map(({ player_id }) => player_id))];
  if (roles.length === 0 || ids.length > MAX_PLAYERS) return [];
  return numbered(roundRobin(ids, roles.length)).flatMap(({ round_id, pairings }) =>
    pairings.map((pairing) => ({ match_id: pairing.match_id, round_id, roles: rolesOf({ roles }, pairing) })),
  );
}

/** Returns the ids of the scheduled matches that are missing in a completed league. */
function missingFrom(league: UnloggedLeague, played: readonly ExportedMatch[]): readonly string[] {
  const byId = new Map(played.toReversed().map((match) => [match.match_id, match]));
  return scheduleOf(league).flatMap(({ match_id, round_id, roles }) => {
    const found = byId.get(match_id);
    return found?.round_id === round_id && isDeepStrictEqual(found.roles, roles) ? [] : [match_id];
  });
}
