/**
 * The fold of the matches of a ladder. It is kept between calls: the rounds of successive states of a league are mostly the same objects, so that only
 * the matches from the first changed round on are undone and folded again.
 */
import { type List, SharedList } from "#shared/lib/list.ts";
import type { FormatMatch, FormatRound, LeagueView } from "./format.ts";
import { type RoleHistory, type RoleIndex, Roles } from "./pairing/roles.ts";

const START_RATING = 1500;
/** The greatest change of a rating by one match, as for new players in chess federations. */
const K = 32;
/** How many matches can be undone at least. If an earlier match changes, all matches are folded again. */
const MAX_UNDONE = 10_000;

/** What a match replaces. */
interface Replaced {
  rating: number;
  lastOpponent: string | null;
  /** The number of the player's last match, counted over the league. */
  lastMatch: number;
  isFree: boolean;
}

/** A player of a ladder. Only this module changes it. */
export interface Climber extends Readonly<Replaced> {
  readonly playerId: string;
  readonly roles: RoleHistory;
  readonly meetings: ReadonlyMap<string, number>;
}

interface MutableClimber extends Replaced {
  readonly playerId: string;
  readonly roles: Roles;
  readonly meetings: Map<string, number>;
}

/** What is needed to undo a match. */
interface Change {
  readonly isOpen: boolean;
  /** The two players and their fields before the match; null if the view does not have both players. */
  readonly before: readonly [MutableClimber, MutableClimber, Readonly<Replaced>, Readonly<Replaced>] | null;
}

/** The players with their ratings: Elo ratings in the order in which the matches were paired. Open, aborted and annulled matches do not count for ratings. */
export interface LadderFold {
  readonly climbers: ReadonlyMap<string, Climber>;
  readonly matchCount: number;
  readonly openCount: number;
}

interface MutableFold {
  readonly climbers: Map<string, MutableClimber>;
  matchCount: number;
  openCount: number;
  /** The number of matches with a player that the view does not have. */
  skippedCount: number;
  /** The rounds of the last view. */
  rounds: List<FormatRound>;
  /** The number of these rounds that are folded. */
  foldedRounds: number;
  /** The changes by the last matches. */
  readonly changes: Change[];
}

/** The last fold of each league by its first round. An entry lives as long as this round. */
const folds = new WeakMap<FormatRound, MutableFold>();

/** Returns the result of `use` for the fold of a view. The fold is valid only during this call. Matches that `use` adds are undone. */
export function withFold<T>(view: LeagueView, use: (fold: LadderFold) => T): T {
  const first = view.rounds.at(0);
  const last = first && folds.get(first);
  // An exception must not leave a fold with a part of the changes.
  if (first) folds.delete(first);
  const fold = (last && rewound(last, view)) ?? newFold();
  for (const { playerId } of view.players) {
    if (!fold.climbers.has(playerId)) fold.climbers.set(playerId, newClimber(playerId));
  }
  for (let index = fold.foldedRounds; index < view.rounds.length; index++) {
    addRound(fold, view.rounds.at(index) as FormatRound);
  }
  fold.rounds = view.rounds;
  fold.foldedRounds = view.rounds.length;
  const { matchCount } = fold;
  const result = use(fold);
  while (fold.matchCount > matchCount) undoMatch(fold);
  if (first) folds.set(first, fold);
  return result;
}

/** Adds an open match of two players of the fold, in the order of their roles. Only within `withFold`. */
export const addPairing = (fold: LadderFold, players: readonly [string, string]): void =>
  addMatch(fold as MutableFold, { players, outcome: null });

const newFold = (): MutableFold => ({
  ...{ climbers: new Map(), matchCount: 0, openCount: 0, skippedCount: 0 },
  ...{ rounds: [], foldedRounds: 0, changes: [] },
});

const newClimber = (playerId: string): MutableClimber => ({
  ...{ playerId, roles: new Roles(), meetings: new Map() },
  ...{ rating: START_RATING, lastOpponent: null, lastMatch: -1, isFree: true },
});

/** Undoes the rounds that are not the same objects in the view. Returns null if this is not possible or the players do not fit. */
function rewound(fold: MutableFold, { rounds, players }: LeagueView): MutableFold | null {
  const known = players.filter(({ playerId }) => fold.climbers.has(playerId)).length;
  // A match that was skipped because of an unknown player can count for a view with more players.
  const isSkipping = fold.skippedCount > 0 && players.length > known;
  if (known < fold.climbers.size || isSkipping) return null;
  const same = commonLength(fold.rounds, rounds);
  const undone = fold.rounds.slice(same, fold.foldedRounds).reduce((sum, { matches }) => sum + matches.length, 0);
  if (undone > fold.changes.length) return null;
  for (let count = 0; count < undone; count++) undoMatch(fold);
  fold.foldedRounds = same;
  return fold;
}

/** The number of rounds at the start that are the same objects. */
function commonLength(one: List<FormatRound>, two: List<FormatRound>): number {
  const length = Math.min(one.length, two.length);
  if (one instanceof SharedList && two instanceof SharedList) return one.differences(two).next().value ?? length;
  let same = 0;
  while (same < length && one.at(same) === two.at(same)) same++;
  return same;
}

function addRound(fold: MutableFold, round: FormatRound): void {
  for (const match of round.matches) addMatch(fold, match);
  const { changes } = fold;
  if (changes.length > 2 * MAX_UNDONE) changes.splice(0, changes.length - MAX_UNDONE);
}

function addMatch(fold: MutableFold, { players, outcome }: Pick<FormatMatch, "players" | "outcome">): void {
  const [one, two] = players.map((player) => fold.climbers.get(player));
  const isOpen = outcome === null;
  const isKnown = one !== undefined && two !== undefined;
  fold.changes.push({ isOpen, before: isKnown ? [one, two, replacedOf(one), replacedOf(two)] : null });
  if (isKnown) {
    seat(one, two, 0, fold.matchCount);
    seat(two, one, 1, fold.matchCount);
    for (const climber of [one, two]) climber.isFree = !isOpen;
    if (outcome !== null && outcome.points.length > 0) rate(one, two, outcome.points);
  } else fold.skippedCount++;
  if (isOpen) fold.openCount++;
  fold.matchCount++;
}

const replacedOf = ({ rating, lastOpponent, lastMatch, isFree }: Replaced): Replaced => ({
  ...{ rating, lastOpponent, lastMatch, isFree },
});

function seat(climber: MutableClimber, { playerId }: Climber, role: RoleIndex, matchNumber: number): void {
  climber.roles.push(role);
  climber.meetings.set(playerId, (climber.meetings.get(playerId) ?? 0) + 1);
  climber.lastOpponent = playerId;
  climber.lastMatch = matchNumber;
}

function rate(one: MutableClimber, two: MutableClimber, [first = 0, second = 0]: readonly number[]): void {
  const score = first === second ? 0.5 : first > second ? 1 : 0;
  const change = K * (score - 1 / (1 + 10 ** ((two.rating - one.rating) / 400)));
  one.rating += change;
  two.rating -= change;
}

/** Undoes the last match. Ratings are restored and not calculated, because the difference of two numbers is rounded. */
function undoMatch(fold: MutableFold): void {
  const { isOpen, before } = fold.changes.pop() as Change;
  fold.matchCount--;
  if (isOpen) fold.openCount--;
  if (before === null) {
    fold.skippedCount--;
    return;
  }
  const [one, two, ofOne, ofTwo] = before;
  unseat(one, two, ofOne);
  unseat(two, one, ofTwo);
}

function unseat(climber: MutableClimber, { playerId }: Climber, before: Readonly<Replaced>): void {
  climber.roles.pop();
  climber.meetings.set(playerId, (climber.meetings.get(playerId) ?? 0) - 1);
  Object.assign(climber, before);
}
