import type { List } from "#shared/lib/list.ts";
import { POINTS } from "#shared/session/verdict.ts";

/** A match of a league, as far as the standings need it. The league's own matches have this form. */
export interface StandingsMatch {
  /** Player ids in the order of the game's roles. */
  readonly players: readonly string[];
  /** Null until the match is completed. `points` has 3, 1 or 0 by seat, and is empty for a match that counts for no player. */
  readonly outcome: {
    readonly points: readonly number[];
    readonly termination: "normal" | "forfeit" | "aborted";
  } | null;
  /** The head of the session log; empty for a match that was decided without being played, null until the match is completed. */
  readonly logHead: string | null;
}

/** A round of a league, as far as the standings need it. */
export interface StandingsRound {
  readonly roundId: number;
  readonly matches: readonly StandingsMatch[];
  readonly byes: readonly string[];
}

/** A match, a bye or a round without either, from the view of one player. */
export interface HistoryEntry {
  readonly roundId: number;
  readonly points: number;
  /** The result as a part of a win: 1 for a win, 0.5 for a draw, 0 for a loss. */
  readonly share: number;
  readonly opponents: readonly string[];
  /** False for a bye, a match that was decided without being played, and a round without a match. */
  readonly isPlayed: boolean;
  /** True if the player did not play although it could have: it was absent, or it was not paired. */
  readonly isVoluntary: boolean;
  /** The index of the player's role; null without a match. */
  readonly seat: number | null;
}

/** What a player has done in the rounds of a league. */
export interface PlayerHistory {
  readonly entries: readonly HistoryEntry[];
  readonly points: number;
  /** The points with which the player counts for its opponents. */
  readonly adjustedPoints: number;
}

/** The results of a league by player. */
export interface History {
  readonly players: ReadonlyMap<string, PlayerHistory>;
  /** The ids of all rounds, ascending. */
  readonly roundIds: readonly number[];
  /** True if rounds that were not played are adjusted by the FIDE Handbook C.07, article 16. */
  readonly isAdjusted: boolean;
  readonly scale: PointScale;
}

/** The points of a win and of a draw. Published crosstables use 1 and a half. */
interface PointScale {
  readonly win: number;
  readonly draw: number;
}

/** Returns the histories of these players. Players of a match that are not listed count as opponents too. */
export function historyOf(
  playerIds: readonly string[],
  rounds: List<StandingsRound>,
  { byePoints, teams }: { readonly byePoints: number; readonly teams?: readonly number[] },
): History {
  const isAdjusted = byePoints > 0;
  const entries = new Map<string, HistoryEntry[]>(playerIds.map((playerId) => [playerId, []]));
  const add = (playerId: string, entry: HistoryEntry): void => {
    const list = entries.get(playerId);
    if (list) list.push(entry);
    else entries.set(playerId, [entry]);
  };
  for (const { roundId, matches, byes } of rounds) {
    for (const match of matches) {
      if (!match.outcome?.points.length) continue;
      for (const [seat, playerId] of match.players.entries()) {
        add(playerId, entryOf(roundId, match, seat, isAdjusted, teams));
      }
    }
    for (const playerId of byes) add(playerId, { ...UNPLAYED, roundId, ...byeResult(byePoints) });
    // In a format without points for byes, a round without a match is part of the schedule.
    if (!isAdjusted) continue;
    const paired = new Set([...byes, ...matches.flatMap((match) => match.players)]);
    for (const playerId of playerIds) {
      if (!paired.has(playerId)) add(playerId, { ...UNPLAYED, roundId, isVoluntary: true });
    }
  }
  return history(
    entries,
    rounds.map(({ roundId }) => roundId),
    isAdjusted,
  );
}

const UNPLAYED = { points: 0, share: 0, opponents: [], isPlayed: false, isVoluntary: false, seat: null } as const;

const byeResult = (points: number) => ({ points, share: points / POINTS.win });

function entryOf(
  roundId: number,
  { players, outcome, logHead }: StandingsMatch,
  seat: number,
  isAdjusted: boolean,
  teams: readonly number[] | undefined,
): HistoryEntry {
  const points = outcome?.points[seat] as number;
  const isPlayed = !isAdjusted || outcome?.termination !== "forfeit" || logHead !== "";
  return {
    roundId,
    points,
    share: points === POINTS.win ? 1 : points === POINTS.draw ? 0.5 : 0,
    opponents: opponentsOf(players, seat, teams),
    isPlayed,
    isVoluntary: !isPlayed && points === POINTS.loss,
    seat,
  };
}

function opponentsOf(
  players: readonly string[],
  seat: number,
  teams: readonly number[] | undefined,
): readonly string[] {
  if (players.length === 2) return [players[1 - seat] as string]; // the usual case, without a search
  return players.filter((_, other) => other !== seat && (teams === undefined || teams[other] !== teams[seat]));
}

/** Creates a history from the entries of each player. */
export function history(
  entries: ReadonlyMap<string, readonly HistoryEntry[]>,
  roundIds: readonly number[],
  isAdjusted: boolean,
  scale: PointScale = POINTS,
): History {
  const players = new Map<string, PlayerHistory>();
  for (const [playerId, list] of entries) {
    const points = list.reduce((sum, entry) => sum + entry.points, 0);
    const adjustedPoints = isAdjusted ? adjusted(list, points, scale) : points;
    players.set(playerId, { entries: list, points, adjustedPoints });
  }
  return { players, roundIds, isAdjusted, scale };
}

/** FIDE Handbook C.07 (2023), article 16.3: the rounds after the last one in which the player was available count as draws. */
function adjusted(entries: readonly HistoryEntry[], points: number, { draw }: PointScale): number {
  const last = entries.findLastIndex(({ isVoluntary }) => !isVoluntary);
  return entries.slice(last + 1).reduce((sum, entry) => sum - entry.points + draw, points);
}
