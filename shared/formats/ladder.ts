import { z } from "zod";
import type { Format, LeagueView, NewRound, Next } from "./format.ts";
import { addPairing, type Climber, type LadderFold, withFold } from "./ladder-fold.ts";
import { firstRole } from "./pairing/roles.ts";
import { activePlayers } from "./view.ts";

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
