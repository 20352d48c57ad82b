import { isDeepStrictEqual } from "node:util";
import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { invariant } from "#shared/lib/result.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { LeagueConfig } from "#shared/runtime/config.ts";
import { POINTS } from "#shared/session/verdict.ts";
import { roundRobin } from "./league/round-robin.ts";
import { createTally, type Standing, type Tally } from "./league/standings.ts";
import type { Kept, LeagueRow, MatchRow } from "./tables.ts";

/** A match of a league: scheduled, given to a referee under an epoch, completed by a result. */
export interface Match {
  readonly leagueId: string;
  readonly matchId: string;
  readonly roundId: number;
  /** Role to player id. */
  readonly roles: Readonly<Record<string, string>>;
  status: MatchRow["status"];
  epoch: number;
  refereeId: string | null;
  aborts: number;
  result: RecordedResult | null;
}

/** A match result without its log. */
export type RecordedResult = Omit<MatchResult, "log">;

/** One league: its players, its schedule and the results so far; standings are a fold of the results, made as they come. */
export interface League {
  readonly config: LeagueConfig;
  readonly game: Game;
  status: LeagueRow["status"];
  readonly entrants: Set<string>;
  readonly matches: Map<string, Match>;
  /** The same matches by their rounds. */
  readonly rounds: Map<number, Match[]>;
  /** What the matches that are completed gave, and how many they are: `completeMatch` alone adds to them. */
  readonly tally: Tally;
  completed: number;
}

export function createLeague(config: LeagueConfig): League {
  const game = findGame(config.game);
  invariant(game, `unknown game ${config.game}`);
  const empty = {
    entrants: new Set<string>(),
    matches: new Map(),
    rounds: new Map(),
    tally: createTally(),
    completed: 0,
  };
  return { config, game, status: "open", ...empty };
}

/** A league as it was kept. */
export function restoreLeague(config: LeagueConfig, kept: Kept): League {
  const league = createLeague(config);
  const { league_id } = config;
  const mine = (row: { league_id: string }): boolean => row.league_id === league_id;
  league.status = kept.leagues.find(mine)?.status ?? "open";
  for (const { player_id } of kept.entrants.filter(mine)) league.entrants.add(player_id);
  const results = new Map(kept.results.filter(mine).map((row) => [row.match_id, row]));
  for (const row of kept.matches.filter(mine)) {
    const recorded = results.get(row.match_id);
    const match = addMatch(league, row.round_id, row.match_id, JSON.parse(row.roles) as Record<string, string>);
    const { status, epoch, aborts } = row;
    Object.assign(match, { status, epoch, aborts, refereeId: row.referee_id });
    if (recorded) completeMatch(league, match, JSON.parse(recorded.result) as RecordedResult, recorded.referee_id);
  }
  return league;
}

/** Draws up the round robin of the players that are in, in the order of their ids. */
export function drawUp(league: League): void {
  const { roles } = league.game;
  for (const { round_id, pairings } of roundRobin([...league.entrants].sort(), roles.length)) {
    for (const { match_id, players } of pairings) {
      addMatch(league, round_id, match_id, Object.fromEntries(roles.map((role, seat) => [role, players[seat] ?? ""])));
    }
  }
}

export function addMatch(
  league: League,
  roundId: number,
  matchId: string,
  roles: Readonly<Record<string, string>>,
): Match {
  const match: Match = {
    leagueId: league.config.league_id,
    matchId,
    roundId,
    roles,
    status: "scheduled",
    epoch: 1,
    refereeId: null,
    aborts: 0,
    result: null,
  };
  league.matches.set(matchId, match);
  const round = league.rounds.get(roundId);
  if (round) round.push(match);
  else league.rounds.set(roundId, [match]);
  return match;
}

/** A match has its result, which is taken once. */
export function completeMatch(league: League, match: Match, result: RecordedResult, refereeId: string | null): void {
  invariant(match.result === null, `${match.leagueId}/${match.matchId} has one result`);
  Object.assign(match, { result, refereeId, status: "completed" });
  league.completed++;
  const { match_points: points, termination, winner } = result;
  league.tally.add({ points, termination, winner });
}

export const matchesOf = (league: League, roundId: number): readonly Match[] => league.rounds.get(roundId) ?? [];

/** The lowest round with a match still to be completed; null when there is none. */
export function currentRound({ rounds }: League): number | null {
  const open = [...rounds].filter(([, matches]) => matches.some(({ status }) => status !== "completed"));
  return open.length === 0 ? null : Math.min(...open.map(([roundId]) => roundId));
}

export function standingsOf(league: League, nameOf: (playerId: string) => string): readonly Standing[] {
  const players = [...league.entrants].sort().map((player_id) => ({ player_id, display_name: nameOf(player_id) }));
  return league.tally.standings(players);
}

/** What is wrong with a result that has no log, or null: nobody can have won anything in it but by the others' absence. */
export function faultOfUnplayed(
  roles: Match["roles"],
  result: Pick<RecordedResult, "winner" | "match_points" | "final_scores" | "faults" | "termination" | "log_head">,
): string | null {
  const { winner, match_points, final_scores, faults, log_head, termination } = result;
  if (termination === "normal" || log_head !== "") return "a result without its log";
  if (termination === "aborted") {
    const given = [...Object.keys({ ...match_points, ...final_scores }), ...faults];
    const isEmpty = winner === null && given.length === 0;
    return isEmpty ? null : "an aborted match without a log has neither winner nor points nor faults";
  }
  const absent = faults.map((fault) => fault.player_id);
  const forfeited = forfeitOf(roles, absent, faults[0]?.detail ?? "");
  const told = { winner, match_points, final_scores, faults };
  return absent.length > 0 && isDeepStrictEqual(told, forfeited)
    ? null
    : "a forfeit without a log is lost by who was absent";
}

function forfeitOf(roles: Match["roles"], absent: readonly string[], detail: string) {
  const players = Object.entries(roles);
  const present = players.filter(([, id]) => !absent.includes(id)).map(([, id]) => id);
  return {
    winner: present.length === 1 ? (present[0] ?? null) : null,
    final_scores: Object.fromEntries(players.map(([, id]) => [id, 0])),
    match_points: Object.fromEntries(players.map(([, id]) => [id, present.includes(id) ? POINTS.win : POINTS.loss])),
    faults: players
      .filter(([, id]) => absent.includes(id))
      .map(([role, player_id]) => ({ player_id, role, code: "G002" as const, cause: "timeout", detail })),
  };
}

/** The reason of a match that was forfeited because a player of it was shut down. */
export const SHUT_DOWN = "shut_down";

/** The result of a match that cannot be played because players of it are shut down: nobody asks them any more. */
export function forfeitUnplayed(match: Match, absent: readonly string[], detail: string): RecordedResult {
  return {
    league_id: match.leagueId,
    round_id: match.roundId,
    match_id: match.matchId,
    epoch: match.epoch,
    ...forfeitOf(match.roles, absent, detail),
    termination: "forfeit",
    reason: SHUT_DOWN,
    log_head: "",
  };
}

export const rowOf = (match: Match): MatchRow => ({
  league_id: match.leagueId,
  match_id: match.matchId,
  round_id: match.roundId,
  roles: JSON.stringify(match.roles),
  status: match.status,
  epoch: match.epoch,
  referee_id: match.refereeId,
  aborts: match.aborts,
});
