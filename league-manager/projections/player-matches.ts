import { SharedList } from "#shared/lib/list.ts";
import { POINTS } from "#shared/session/verdict.ts";
import { matchOf } from "../league/evolve.ts";
import type { League, Match } from "../league/league.ts";
import { teamSeats } from "./ratings.ts";

/** A completed match for one of its players: won, drawn, lost, or without points for either. */
type Mark = "win" | "draw" | "loss" | "none";

/** The matches of one player, and counts over the completed ones. */
export interface PlayerMatches {
  /** The ids of its matches in the order of the schedule. */
  readonly matchIds: readonly string[];
  /** The positions in `matchIds` of the matches that are not completed, ascending. */
  readonly open: readonly number[];
  /** The results against each opponent that it has met. */
  readonly opponents: ReadonlyMap<string, { readonly wins: number; readonly draws: number; readonly losses: number }>;
  /** The number of its faults by cause. */
  readonly faults: ReadonlyMap<string, number>;
  /** The last match of the schedule that it has lost by forfeit; null if there is none. */
  readonly lastFault: string | null;
}

interface Counted extends PlayerMatches {
  readonly matchIds: string[];
  readonly opponents: Map<string, { wins: number; draws: number; losses: number }>;
  readonly faults: Map<string, number>;
  lastFault: string | null;
  /** The position of `lastFault` in `matchIds`. */
  lastFaultAt: number;
  open: number[];
}

/** The players of a league with the state up to which it was read. */
interface Index extends Pick<League, "seedCommitment" | "annulledCount"> {
  /** The rounds whose matches were read. */
  rounds: League["rounds"];
  readonly players: Map<string, Counted>;
}

/**
 * Returns a function that gives the matches of a player. It keeps an index for each league that is asked for. A further call reads only new matches and
 * those of the player that were open, so its cost does not depend on the number of matches that the league has completed.
 */
export function playerMatchesIndex(): (league: League, playerId: string) => PlayerMatches {
  const indexes = new Map<string, Index>();
  return (league, playerId) => {
    const { leagueId, seedCommitment, annulledCount } = league;
    let index = indexes.get(leagueId);
    // An annulled match no longer has the points that were counted.
    if (index?.seedCommitment !== seedCommitment || index.annulledCount !== annulledCount) {
      index = { seedCommitment, annulledCount, rounds: SharedList.of(), players: new Map() };
      indexes.set(leagueId, index);
    }
    readNew(index, league);
    const player = index.players.get(playerId) ?? newPlayer();
    countCompleted(player, league, playerId);
    return player;
  };
}

/** The mark of a completed match for one of its seats. */
export function markOf({ outcome }: Pick<Match, "outcome">, seat: number): Mark {
  const points = outcome?.points[seat];
  if (points === undefined) return "none";
  return points === POINTS.win ? "win" : points === POINTS.draw ? "draw" : "loss";
}

/** The seats of the other teams: those of the opponents of a seat. */
export function opponentSeats({ game, roles }: Pick<League, "game" | "roles">, seat: number): readonly number[] {
  const own = teamSeats(game, roles)?.find((team) => team.includes(seat)) ?? [seat];
  return roles.map((_, other) => other).filter((other) => !own.includes(other));
}

const newPlayer = (): Counted => ({
  matchIds: [],
  opponents: new Map(),
  faults: new Map(),
  lastFault: null,
  lastFaultAt: -1,
  open: [],
});

/** Adds the matches that were paired since the last call. */
function readNew(index: Index, { rounds }: League): void {
  for (const changed of rounds.differences(index.rounds)) {
    const known = index.rounds.at(changed)?.matches.length ?? 0;
    for (const { players, matchId } of rounds.at(changed)?.matches.slice(known) ?? []) {
      for (const playerId of players) {
        const player = index.players.get(playerId) ?? newPlayer();
        index.players.set(playerId, player);
        player.open.push(player.matchIds.push(matchId) - 1);
      }
    }
  }
  index.rounds = rounds;
}

/** Counts the matches that were completed since the last call. */
function countCompleted(player: Counted, league: League, playerId: string): void {
  player.open = player.open.filter((position) => {
    const match = matchOf(league, player.matchIds[position] as string);
    if (!match?.outcome) return true;
    count(player, league, match, position, playerId);
    return false;
  });
}

const COUNTS = { win: "wins", draw: "draws", loss: "losses" } as const;

function count(player: Counted, league: League, match: Match, position: number, playerId: string): void {
  const seat = match.players.indexOf(playerId);
  const mark = markOf(match, seat);
  if (mark !== "none") {
    for (const other of opponentSeats(league, seat)) {
      const opponent = match.players[other] as string;
      const results = player.opponents.get(opponent) ?? { wins: 0, draws: 0, losses: 0 };
      results[COUNTS[mark]]++;
      player.opponents.set(opponent, results);
    }
  }
  const faults = match.outcome?.faults.filter(({ player_id, code }) => player_id === playerId && code) ?? [];
  for (const { cause } of faults) player.faults.set(cause, (player.faults.get(cause) ?? 0) + 1);
  if (faults.length === 0 || position < player.lastFaultAt) return;
  player.lastFault = match.matchId;
  player.lastFaultAt = position;
}
