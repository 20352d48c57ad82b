import { isDeepStrictEqual } from "node:util";
import { roundRobin } from "#shared/formats/round-robin.ts";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { parseEntry } from "#shared/session/entry.ts";
import { faultsOfMatch, participantsOf } from "#shared/session/match-result.ts";
import { matchSeed, type SeedRule } from "#shared/session/match-seed.ts";
import { MAX_ABORTS } from "../../../league-manager/league/decide.ts";
import { matchOf } from "../../../league-manager/league/evolve.ts";
import { openMatchCount } from "../../../league-manager/league/format-view.ts";
import {
  type League,
  leagueSeed,
  numbered,
  optionsOf,
  positionOf,
  seedOfMatch,
} from "../../../league-manager/league/league.ts";
import { CANCELLED, rolesOf, summaryOf } from "../../../league-manager/league/outcome.ts";
import { faultOfUnplayed } from "../../../league-manager/league/result-check.ts";
import {
  completedMatches,
  ExportedMatch,
  type LoggedLeague,
  type LoggedRun,
  MAX_PLAYERS,
  matchFile,
  RUN_FILE,
  type UnloggedLeague,
  type UnloggedRun,
} from "../format.ts";
import type { LeagueLog } from "./league-logs.ts";
import { type Findings, readDocument, type Source } from "./source.ts";

/** Checks a league with its log: each field of the league and of its matches must follow from the log. */
export function checkLogged(source: Source, run: LoggedRun, exported: LoggedLeague, log: LeagueLog): CheckedLeague {
  const { findings } = source;
  const { league } = log;
  const matches = checkMatches(source, exported, RUN_FILE, (matchId) => {
    const match = league && matchOf(league, matchId);
    return match ? optionsOf(league, match) : exported.options;
  });
  if (!league) return { matches, league, unplayed: null, discarded: 0 };
  for (const message of leagueFaults(run, exported, league))
    findings.blame(RUN_FILE, `${exported.league_id}: ${message}`);
  for (const checked of matches) {
    checkResult(findings, exported, { league, annulled: log.annulled }, checked);
    checkAnnulledLog(findings, log, checked);
  }
  if (exported.seed === null && exported.status !== "completed" && matches.length > 0)
    findings.except(RUN_FILE, `the seeds of ${exported.league_id} cannot be checked before it is completed`);
  const discarded = checkDiscarded(findings, log);
  // The options of the format can be invalid in a log with faults.
  const isOver = league.status === "completed" || findings.isBlamed(log.file);
  const unplayed = isOver ? null : openMatchCount(league);
  return { matches, league, unplayed, discarded };
}

/** Returns the faults of a league's fields, which must follow from its log. */
function leagueFaults(run: LoggedRun, exported: LoggedLeague, league: League): readonly string[] {
  const expected = {
    league_id: league.leagueId,
    game: league.game,
    options: league.options,
    clock: league.clock ?? undefined,
    format: league.format,
    format_options: league.formatOptions,
    status: league.status,
    seed_commitment: league.seedCommitment,
    matches: completedMatches(league).map(({ matchId }) => matchId),
    players: [...league.entrants.keys()],
  };
  const { league_id, game, options, clock, status, seed_commitment, matches } = exported;
  const { format = "round-robin", format_options = {} } = exported;
  const players = exported.players.map(({ player_id }) => player_id);
  const settings = { game, options, clock, format, format_options };
  const actual = { league_id, ...settings, status, seed_commitment, matches, players };
  const faults = Object.entries(expected).flatMap(([field, value]) =>
    isDeepStrictEqual(actual[field as keyof typeof actual], value) ? [] : [`its field ${field} differs from its log`],
  );
  if (league.runId !== run.run_id) faults.push("its log belongs to another run");
  const rules = findGame(league.game);
  if (rules && !isDeepStrictEqual(rules.roles, league.roles)) faults.push(`its roles are not those of ${league.game}`);
  return [...faults, ...seedFaults(run, exported)];
}

function seedFaults(run: LoggedRun, { league_id, status, seed, seed_commitment }: LoggedLeague): readonly string[] {
  if (seed === null) return status === "completed" ? ["it is completed, but its seed is missing"] : [];
  const faults: string[] = [];
  if (sha256Hex(seed) !== seed_commitment) faults.push("the hash of its seed is not its seed_commitment");
  if (run.seed !== null && seed !== leagueSeed(run.seed, league_id))
    faults.push("its seed does not follow from the seed of the run");
  return faults;
}

/** Compares a match with its result in the log of the league. */
function checkResult(
  findings: Findings,
  exported: LoggedLeague,
  { league, annulled }: { readonly league: League; readonly annulled: LeagueLog["annulled"] },
  { file, match }: CheckedMatch,
): void {
  const logged = matchOf(league, match.match_id);
  if (!logged?.outcome) {
    findings.blame(file, "the log of the league has no result of this match");
    return;
  }
  const expected = {
    round_id: logged.roundId,
    epoch: logged.epoch,
    referee_id: logged.refereeId,
    roles: rolesOf(league, logged),
    ...summaryOf(logged),
  };
  for (const [field, value] of Object.entries(expected)) {
    const actual = match[field as keyof typeof expected];
    if (isDeepStrictEqual(actual, value)) continue;
    const message = `${field} is ${JSON.stringify(actual)}, but the log of the league has ${JSON.stringify(value)}`;
    findings.blame(file, message);
  }
  if (
    exported.seed !== null &&
    match.seed !== seedOfMatch(exported.seed, league.leagueId, match.match_id, match.epoch)
  ) {
    findings.blame(file, "its seed does not follow from the seed of the league");
  }
  if (match.log.length > 0) {
    const isAborted = logged.outcome.termination === "aborted";
    if (isAborted) findings.except(file, `${matchRef(league.leagueId, match.match_id)} was aborted by its referee`);
    return;
  }
  const { termination, reason } = logged.outcome;
  // `checkCourse` names each annulled match.
  if (termination === "aborted" && annulled.has(match.match_id)) return;
  // `checkCourse` checks that the format has ended before its matches were cancelled.
  if (termination === "aborted" && reason === CANCELLED && logged.refereeId === null) return;
  const isAborted = termination === "aborted" && logged.logHead === "";
  // Without a referee the manager records only forfeits of players that are shut down. `checkCourse` checks these forfeits.
  const isForfeit = termination === "forfeit" && logged.refereeId === null;
  if (isAborted) findings.except(file, `${matchRef(league.leagueId, match.match_id)} was aborted without a log`);
  else if (!isForfeit) findings.blame(file, "a result without its log");
}

/**
 * Returns the number of discarded assignments of a league. A discarded assignment is repeated in a new epoch with another seed. A match is an exception
 * if more than `MAX_ABORTS` of its assignments were released because the referee was unreachable or rejected them: the manager does not limit these
 * releases, so the operator could have repeated the match until its result was the wanted one. `checkCourse` checks the limit of aborts.
 */
function checkDiscarded({ except }: Findings, { file, events, league }: LeagueLog): number {
  const released = new Map<string, { all: number; unlimited: number }>();
  for (const event of events) {
    if (event.type !== "match_released") continue;
    const { all, unlimited } = released.get(event.match_id) ?? { all: 0, unlimited: 0 };
    const isUnlimited = event.reason === "unreachable" || event.reason === "refused";
    released.set(event.match_id, { all: all + 1, unlimited: unlimited + (isUnlimited ? 1 : 0) });
  }
  for (const [matchId, { all, unlimited }] of released) {
    if (unlimited <= MAX_ABORTS || !league) continue;
    const name = matchRef(league.leagueId, matchId);
    except(file, `${name} was assigned ${all + 1} times: ${all} assignments were discarded`);
  }
  return [...released.values()].reduce((sum, { all }) => sum + all, 0);
}

/** Checks the session log of an annulled match: the result that the match had before must follow from it. Exports of earlier versions have no such log. */
function checkAnnulledLog(findings: Findings, { annulled }: LeagueLog, { file, match }: CheckedMatch): void {
  if (!match.annulled_log) return;
  const before = annulled.get(match.match_id);
  if (!before?.outcome) {
    findings.blame(file, "has an annulled_log, but the log of the league does not annul a result of this match");
    return;
  }
  if (!findGame(match.game)) return;
  const played = { ...match, ...summaryOf(before), faults: [...before.outcome.faults], log: match.annulled_log };
  const faults = faultsOfMatch(played);
  for (const message of faults) findings.blame(file, `annulled_log: ${message}`);
  if (faults.length === 0 && !namesItsPlayers(played))
    findings.except(file, `the log of ${matchRef(match.league_id, match.match_id)} does not name its players`);
}

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

type ExportedLeague = UnloggedLeague | LoggedLeague;

/** The result of the check of one league. */
export interface CheckedLeague {
  readonly matches: readonly CheckedMatch[];
  /** The league that follows from its log; null without a sound log. */
  readonly league: League | null;
  /** The number of matches still to be played at most; null if the league is completed. */
  readonly unplayed: number | null;
  /** The number of discarded assignments; 0 for a league without a log. */
  readonly discarded: number;
}

/** A match of an export with its file. */
export interface CheckedMatch {
  readonly file: string;
  readonly match: ExportedMatch;
}

/**
 * Reads the matches that a league lists. Checks the ids, the options, the players and the session log of each. `optionsOf` returns the options that a
 * match must have.
 */
function checkMatches(
  source: Source,
  league: ExportedLeague,
  runFile: string,
  optionsOf: (matchId: string) => unknown = () => league.options,
): readonly CheckedMatch[] {
  const { findings } = source;
  const listed = new Set<string>();
  const playerIds = new Set(league.players.map(({ player_id }) => player_id));
  return league.matches.flatMap((matchId) => {
    if (listed.has(matchId)) {
      findings.blame(runFile, `lists ${matchRef(league.league_id, matchId)} twice`);
      return [];
    }
    listed.add(matchId);
    const file = matchFile(league.league_id, matchId);
    const match = readDocument(source, file, ExportedMatch);
    if (!match) return [];
    const faults = faultsIn({ ...league, options: optionsOf(matchId) }, playerIds, matchId, match);
    for (const message of faults) findings.blame(file, message);
    const isReplayed = match.log.length > 0 && findGame(league.game) !== undefined;
    if (faults.length === 0 && isReplayed && !namesItsPlayers(match)) {
      findings.except(file, `the log of ${matchRef(league.league_id, matchId)} does not name its players`);
    }
    return [{ file, match }];
  });
}

function faultsIn(
  league: ExportedLeague,
  playerIds: ReadonlySet<string>,
  matchId: string,
  match: ExportedMatch,
): readonly string[] {
  const faults: string[] = [];
  const isSame = match.league_id === league.league_id && match.match_id === matchId && match.game === league.game;
  if (!isSame) faults.push(`contains another match: ${matchRef(match.league_id, match.match_id)} of ${match.game}`);
  if (!isDeepStrictEqual(match.options, league.options)) faults.push("its options are not those of the league");
  if (!isDeepStrictEqual(match.clock, league.clock)) faults.push("its clocks are not those of the league");
  const unknownIds = Object.values(match.roles).filter((id) => !playerIds.has(id));
  for (const id of unknownIds) faults.push(`${id} is not a player of ${league.league_id}`);
  // Without the rules of the game, the log cannot be replayed.
  return match.log.length > 0 && findGame(league.game) ? [...faults, ...faultsOfMatch(match)] : faults;
}

/** Whether the first entry of a sound log names the players of the match. Referees of other programs may name participants differently. */
function namesItsPlayers(match: ExportedMatch): boolean {
  const first = parseEntry(match.log[0] ?? "");
  return first.type === "created" && isDeepStrictEqual({ ...first.participants }, participantsOf(match));
}
