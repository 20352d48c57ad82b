import { z } from "zod";
import { type List, SharedList } from "#shared/lib/list.ts";
import {
  activePlayers,
  type Format,
  type FormatMatch,
  type FormatRound,
  type LeagueView,
  type NewRound,
  type Next,
} from "./format.ts";
import { firstRole, type RoleHistory, type RoleIndex, Roles } from "./roles.ts";

const Options = z.strictObject({
  matches: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      "The number of matches of the league. Without it: five for each player at the start, so that each plays about ten.",
    ),
  max_ahead: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      "The number of matches by which a player may be ahead of another one: then it waits for the other one's next match. Default: 2.",
    ),
});
type Options = z.infer<typeof Options>;

const MATCHES_FOR_EACH = 5;

/** How many rating points of difference an earlier meeting is worth: a player meets others before it meets an equal opponent too often. */
const MEETING_COST = 25;
/** The default of the number of matches by which a player may be ahead of another one. */
const MAX_AHEAD = 2;

/** The free players in the order in which they are paired: the fewest matches first, then the longest wait. */
const waiting = (climbers: readonly Climber[]): readonly Climber[] =>
  climbers
    .filter(({ isFree }) => isFree)
    .toSorted((a, b) => a.roles.length - b.roles.length || a.lastMatch - b.lastMatch);

interface PairingRules {
  /** The number of matches by which a player may be ahead of another one. Absent: the players do not wait for others. */
  readonly maxAhead?: number | undefined;
  /** Whether players may meet in two consecutive matches. */
  readonly again?: boolean;
}

/** The opponent with the most similar rating, or null if there is none. `mayMeet` excludes further opponents. */
function opponentOf(lead: Climber, free: readonly Climber[], mayMeet: (other: Climber) => boolean): Climber | null {
  const cost = (other: Climber): number =>
    Math.abs(other.rating - lead.rating) + MEETING_COST * (lead.meetings.get(other.playerId) ?? 0);
  const candidates = free.filter((other) => other !== lead && mayMeet(other));
  const level = candidates.filter((other) => other.roles.length <= lead.roles.length + MAX_AHEAD);
  return (level.length > 0 ? level : candidates).reduce<Climber | null>(
    (best, other) => (best === null || cost(other) < cost(best) ? other : best),
    null,
  );
}

/** The next pairing of free players, or null if there is none. */
function nextPair(
  climbers: readonly Climber[],
  { maxAhead, again = false }: PairingRules,
): readonly [Climber, Climber] | null {
  const withMatches = Map.groupBy(climbers, ({ roles }) => roles.length);
  /** Whether a player waits until others have another match. It does not wait for its opponent, and not for a late entry that is further behind. */
  const waits = (climber: Climber, opponent: Climber): boolean => {
    if (maxAhead === undefined) return false;
    const behind = climber.roles.length - maxAhead;
    const others = (withMatches.get(behind)?.length ?? 0) - (opponent.roles.length === behind ? 1 : 0);
    return others > 0;
  };
  const free = waiting(climbers);
  for (const lead of free) {
    const opponent = opponentOf(
      lead,
      free,
      (other) =>
        (again || (other.playerId !== lead.lastOpponent && lead.playerId !== other.lastOpponent)) &&
        !waits(lead, other) &&
        !waits(other, lead),
    );
    if (opponent !== null) return [lead, opponent];
  }
  return null;
}

/** The number of matches that are not paired. */
function unpairedMatches(view: LeagueView, { matchCount }: LadderFold, { matches }: Options): number {
  const atStart = view.players.filter(({ enteredAfter }) => enteredAfter === 0).length;
  return Math.max(0, (matches ?? MATCHES_FOR_EACH * atStart) - matchCount);
}

/** The next pairing if nobody plays and everybody waits. */
const exception = (climbers: readonly Climber[]) => nextPair(climbers, {}) ?? nextPair(climbers, { again: true });

/** Pairs the active players on top of the fold. */
function nextOfFold(fold: LadderFold, active: readonly string[], count: number, maxAhead: number | undefined): Next {
  const isIdle = fold.openCount === 0;
  const climbers = active.flatMap((player) => fold.climbers.get(player) ?? []);
  const rounds: NewRound[] = [];
  while (rounds.length < count) {
    const nobodyPlays = rounds.length === 0 && isIdle;
    const next = nextPair(climbers, { maxAhead }) ?? (nobodyPlays ? exception(climbers) : null);
    if (next === null) break;
    const [one, two] = next;
    const first = firstRole(one.roles, two.roles, fold.matchCount % 2 === 0 ? 0 : 1);
    const pairing = first === 0 ? ([one.playerId, two.playerId] as const) : ([two.playerId, one.playerId] as const);
    rounds.push({ pairings: [pairing], byes: [] });
    addPairing(fold, pairing);
  }
  return rounds.length > 0 ? { rounds } : "wait";
}

/** The pairings depend on the order in which the matches end, because only free players are paired. */
export const ladder: Format<Options> = {
  id: "ladder",
  name: "Ladder",
  description: "Players with similar ratings are paired as soon as they are free, until a number of matches is played.",
  options: Options,
  optionsOfNew: { max_ahead: MAX_AHEAD },
  extendable: ["matches"],
  roles: "two",
  opensRounds: "at_once",
  byePoints: 0,
  tieBreaks: ["points", "wins", "draws"],

  next: (view, slots, options) =>
    withFold(view, (fold) => {
      const active = activePlayers(view);
      const unpaired = unpairedMatches(view, fold, options);
      if (unpaired === 0 || active.length < 2) return "completed";
      return nextOfFold(fold, active, Math.min(slots, unpaired), options.max_ahead);
    }),

  remaining: (view, options) =>
    withFold(
      view,
      (fold) => fold.openCount + (activePlayers(view).length < 2 ? 0 : unpairedMatches(view, fold, options)),
    ),

  rankingText: "The order is that of the ratings of the ladder, because strong players meet strong players.",
  // Points do not order players who meet different opponents.
  ranking: (view) =>
    withFold(view, ({ climbers }) => {
      const groups = new Map<number, string[]>();
      for (const { playerId } of view.players) {
        const { rating } = climbers.get(playerId) as Climber;
        const group = groups.get(rating);
        if (group) group.push(playerId);
        else groups.set(rating, [playerId]);
      }
      return [...groups].toSorted(([a], [b]) => b - a).map(([, players]) => players);
    }),
};

// The fold of the matches is kept between calls: the rounds of successive states of a league are mostly the same objects, so that only the matches from
// the first changed round on are undone and folded again.

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

/** A player of a ladder. Only the fold changes it. */
interface Climber extends Readonly<Replaced> {
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
interface LadderFold {
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
function withFold<T>(view: LeagueView, use: (fold: LadderFold) => T): T {
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
const addPairing = (fold: LadderFold, players: readonly [string, string]): void =>
  addMatch(fold as MutableFold, { players, outcome: null });

const newFold = (): MutableFold => ({
  climbers: new Map(),
  matchCount: 0,
  openCount: 0,
  skippedCount: 0,
  rounds: [],
  foldedRounds: 0,
  changes: [],
});

const newClimber = (playerId: string): MutableClimber => ({
  playerId,
  roles: new Roles(),
  meetings: new Map(),
  rating: START_RATING,
  lastOpponent: null,
  lastMatch: -1,
  isFree: true,
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
  rating,
  lastOpponent,
  lastMatch,
  isFree,
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
