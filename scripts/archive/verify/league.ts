import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { matchOf } from "../../../league-manager/league/evolve.ts";
import { openMatchCount } from "../../../league-manager/league/format-view.ts";
import { type League, leagueSeed, optionsOf, seedOfMatch } from "../../../league-manager/league/league.ts";
import { CANCELLED, rolesOf, summaryOf } from "../../../league-manager/league/outcome.ts";
import { RUN_FILE } from "../files.ts";
import { completedMatches, type LoggedLeague, type LoggedRun } from "../format.ts";
import { checkAnnulledLog } from "./annulled-log.ts";
import { checkDiscarded } from "./discarded.ts";
import type { Findings } from "./findings.ts";
import type { LeagueLog } from "./league-log.ts";
import { type CheckedLeague, type CheckedMatch, checkMatches } from "./match.ts";
import type { Source } from "./source.ts";

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
