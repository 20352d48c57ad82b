import { isDeepStrictEqual } from "node:util";
import { findGame } from "#shared/games/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { parseEntry } from "#shared/session/entry.ts";
import { faultsOfMatch, participantsOf } from "#shared/session/match-result.ts";
import type { League } from "../../../league-manager/league/league.ts";
import { matchFile } from "../files.ts";
import { ExportedMatch, type LoggedLeague, type UnloggedLeague } from "../format.ts";
import { readDocument, type Source } from "./source.ts";

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
export function checkMatches(
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
export function namesItsPlayers(match: ExportedMatch): boolean {
  const first = parseEntry(match.log[0] ?? "");
  return first.type === "created" && isDeepStrictEqual({ ...first.participants }, participantsOf(match));
}
