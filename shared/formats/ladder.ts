import { z } from "zod";
import type { Format, LeagueView, NewRound } from "./format.ts";
import { firstRole, type RoleIndex } from "./pairing/roles.ts";
import { activePlayers, matchesOf, openMatches } from "./view.ts";

const Options = z.strictObject({
  matches: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe(
      "The number of matches of the league. Without it: five for each player at the start, so that each plays about ten.",
    ),
});
type Options = z.infer<typeof Options>;

const MATCHES_FOR_EACH = 5;

const START_RATING = 1500;
/** The greatest change of a rating by one match, as for new players in chess federations. */
const K = 32;
/** How many rating points of difference an earlier meeting is worth: a player meets others before it meets an equal opponent too often. */
const MEETING_COST = 25;
/** How many matches more than the waiting player an opponent has, unless there is no other. */
const MAX_AHEAD = 2;

/** A player of a ladder. */
interface Climber {
  readonly playerId: string;
  rating: number;
  readonly roles: RoleIndex[];
  readonly meetings: Map<string, number>;
  lastOpponent: string | null;
  /** The number of the player's last match, counted over the league. */
  lastMatch: number;
  isFree: boolean;
}

/** The players with their ratings: Elo ratings in the order in which the matches were paired. Open, aborted and annulled matches do not count for ratings. */
function climbersOf(view: LeagueView): ReadonlyMap<string, Climber> {
  const climbers = new Map(view.players.map(({ playerId }) => [playerId, newClimber(playerId)]));
  for (const [index, { players, outcome }] of matchesOf(view).entries()) {
    const [one, two] = players.map((player) => climbers.get(player));
    if (one === undefined || two === undefined) continue;
    pair(one, two, index);
    for (const climber of [one, two]) climber.isFree = outcome !== null;
    if (outcome === null || outcome.points.length === 0) continue;
    const [first = 0, second = 0] = outcome.points;
    const score = first === second ? 0.5 : first > second ? 1 : 0;
    const change = K * (score - 1 / (1 + 10 ** ((two.rating - one.rating) / 400)));
    one.rating += change;
    two.rating -= change;
  }
  return climbers;
}

const newClimber = (playerId: string): Climber => ({
  ...{
    playerId,
    rating: START_RATING,
    roles: [],
    meetings: new Map(),
    lastOpponent: null,
    lastMatch: -1,
    isFree: true,
  },
});

/** Notes a match of two players, of which the first-named one has the first role. */
function pair(first: Climber, second: Climber, matchNumber: number): void {
  const seats = [
    [first, second, 0],
    [second, first, 1],
  ] as const;
  for (const [climber, opponent, role] of seats) {
    climber.roles.push(role);
    climber.meetings.set(opponent.playerId, (climber.meetings.get(opponent.playerId) ?? 0) + 1);
    climber.lastOpponent = opponent.playerId;
    climber.lastMatch = matchNumber;
    climber.isFree = false;
  }
}

/** The free players in the order in which they are paired: the fewest matches first, then the longest wait. */
const waiting = (climbers: readonly Climber[]): readonly Climber[] =>
  climbers
    .filter(({ isFree }) => isFree)
    .toSorted((a, b) => a.roles.length - b.roles.length || a.lastMatch - b.lastMatch);

/** The opponent with the most similar rating, or null if there is none. Two players do not meet in two consecutive matches, unless `again` is set. */
function opponentOf(lead: Climber, free: readonly Climber[], again: boolean): Climber | null {
  const cost = (other: Climber): number =>
    Math.abs(other.rating - lead.rating) + MEETING_COST * (lead.meetings.get(other.playerId) ?? 0);
  const candidates = free.filter(
    (other) =>
      other !== lead && (again || (other.playerId !== lead.lastOpponent && lead.playerId !== other.lastOpponent)),
  );
  const level = candidates.filter((other) => other.roles.length <= lead.roles.length + MAX_AHEAD);
  return (level.length > 0 ? level : candidates).reduce<Climber | null>(
    (best, other) => (best === null || cost(other) < cost(best) ? other : best),
    null,
  );
}

/** The next pairing of free players, or null if there is none. */
function nextPair(climbers: readonly Climber[], again: boolean): readonly [Climber, Climber] | null {
  const free = waiting(climbers);
  for (const lead of free) {
    const opponent = opponentOf(lead, free, again);
    if (opponent !== null) return [lead, opponent];
  }
  return null;
}

/** The number of matches that are not paired. */
function unpairedMatches(view: LeagueView, { matches }: Options): number {
  const atStart = view.players.filter(({ enteredAfter }) => enteredAfter === 0).length;
  return Math.max(0, (matches ?? MATCHES_FOR_EACH * atStart) - matchesOf(view).length);
}

/** The pairings depend on the order in which the matches end, because only free players are paired. */
export const ladder: Format<Options> = {
  id: "ladder",
  name: "Ladder",
  description: "Players with similar ratings are paired as soon as they are free, until a number of matches is played.",
  options: Options,
  extendable: ["matches"],
  roles: "two",
  opensRounds: "at_once",
  byePoints: 0,
  tieBreaks: ["points", "wins", "draws"],

  next(view, slots, options) {
    const active = activePlayers(view);
    const unpaired = unpairedMatches(view, options);
    if (unpaired === 0 || active.length < 2) return "completed";
    const all = climbersOf(view);
    const climbers = active.flatMap((player) => all.get(player) ?? []);
    const rounds: NewRound[] = [];
    let matchNumber = matchesOf(view).length;
    while (rounds.length < Math.min(slots, unpaired)) {
      const nobodyPlays = rounds.length === 0 && openMatches(view) === 0;
      const next = nextPair(climbers, false) ?? (nobodyPlays ? nextPair(climbers, true) : null);
      if (next === null) break;
      const [one, two] = next;
      const first = firstRole(one.roles, two.roles, matchNumber % 2 === 0 ? 0 : 1);
      const [white, black] = first === 0 ? [one, two] : [two, one];
      rounds.push({ pairings: [[white.playerId, black.playerId]], byes: [] });
      pair(white, black, matchNumber++);
    }
    return rounds.length > 0 ? { rounds } : "wait";
  },

  remaining: (view, options) =>
    openMatches(view) + (activePlayers(view).length < 2 ? 0 : unpairedMatches(view, options)),

  rankingText: "The order is that of the ratings of the ladder, because strong players meet strong players.",
  // Points do not order players who meet different opponents.
  ranking(view) {
    const groups = new Map<number, string[]>();
    for (const { playerId, rating } of climbersOf(view).values()) {
      groups.set(rating, [...(groups.get(rating) ?? []), playerId]);
    }
    return [...groups].toSorted(([a], [b]) => b - a).map(([, players]) => players);
  },
};
