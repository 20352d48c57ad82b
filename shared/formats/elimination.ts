import { z } from "zod";
import { type BracketRules, bracketOf, seedsOf } from "./bracket-fold.ts";
import type { Format, LeagueView, NewRound, Next } from "./format.ts";
import { type Bracket, type BracketRound, type BracketTie, onwardTies, type PlannedRound } from "./pairing/bracket.ts";
import { activePlayers, openMatches } from "./view.ts";

/** The options of all formats with a bracket. */
export const BRACKET_OPTIONS = {
  seeding: z
    .enum(["entry", "random"])
    .default("entry")
    .describe("The order of the seeds: that of the players of the league, or random by the seed of the league."),
  legs: z
    .int()
    .min(1)
    .max(100)
    .default(2)
    .describe("The number of matches of each pairing, with alternating roles. The points of all matches decide."),
  extra_legs: z
    .int()
    .min(0)
    .max(100)
    .default(2)
    .describe(
      "The number of further matches of a level pairing, one at a time. If all are drawn, the better seed wins.",
    ),
};

/**
 * The part that all formats with a bracket share. With fewer players than places in the bracket, the best seeds have a bye in the first round.
 * `planOf` returns the rounds of a bracket with a number of players.
 */
export function eliminationRules<Options extends BracketRules>(
  planOf: (playerCount: number, options: Options) => readonly PlannedRound[],
) {
  const planned = (view: LeagueView, options: Options) => planOf(seedsOf(view, options).length, options);
  const bracket = (view: LeagueView, options: Options) => bracketOf(view, planned(view, options), options);
  return {
    ...{ extendable: [], roles: "two", opensRounds: "in_order", byePoints: 0, tieBreaks: ["points", "wins"] },
    takesLateEntries: () => false,
    bracket,
    next: (view, _slots, options) => nextOfBracket(view, bracket(view, options), options),
    remaining: (view, options) => remainingOfBracket(view, bracket(view, options), options),
    rankingText: "The order is that of the bracket: who gets further is ranked higher.",
    ranking: (view, options) => rankingOfBracket(view, bracket(view, options), planned(view, options)),
  } satisfies Partial<Format<Options>>;
}

const isDecided = ({ decidedBy }: BracketTie): boolean => decidedBy !== null;

/** The first round of the bracket that is not decided: its matches, or one further match of each of its level ties. */
function nextOfBracket(view: LeagueView, { rounds, seeds }: Bracket, rules: BracketRules): Next {
  const round = rounds.find(({ ties }) => !ties.every(isDecided));
  if (round === undefined) return "completed";
  if (openMatches(view) > 0) return "wait";
  const isFurther = round.ties.some(({ matchIds }) => matchIds.length > 0);
  const open = round.ties.filter((tie) => !isDecided(tie));
  const newRound: NewRound = {
    pairings: open.flatMap((tie) => legsOf(tie, seeds, isFurther ? 1 : rules.legs)),
    byes: isFurther ? [] : byesOf(round, activePlayers(view)),
    label: isFurther ? `${round.label}, further match` : round.label,
  };
  return { rounds: [newRound] };
}

/** The next matches of a tie. The better seed has the first role in the first match; then the roles alternate. */
function legsOf(
  { slots, matchIds }: BracketTie,
  seeds: readonly string[],
  count: number,
): readonly (readonly string[])[] {
  const players = slots.map(({ playerId }) => playerId ?? "").toSorted((a, b) => seeds.indexOf(a) - seeds.indexOf(b));
  return Array.from({ length: count }, (_, leg) =>
    (matchIds.length + leg) % 2 === 0 ? players : players.toReversed(),
  );
}

/** The players that advance without a match. */
const byesOf = ({ ties }: BracketRound, active: readonly string[]): readonly string[] =>
  ties.flatMap(({ decidedBy, winner }) =>
    winner !== null && active.includes(winner) && (decidedBy === "bye" || decidedBy === "withdrawal") ? [winner] : [],
  );

/** The number of matches that are open, and of those that each tie without an empty slot can still need. */
function remainingOfBracket(view: LeagueView, { rounds }: Bracket, { legs, extra_legs }: BracketRules): number {
  const unpaired = rounds
    .flatMap(({ ties }) => ties)
    .filter((tie) => !isDecided(tie) && !tie.slots.some(({ isEmpty }) => isEmpty))
    .map(({ matchIds }) => legs + extra_legs - matchIds.length);
  return openMatches(view) + unpaired.reduce((sum, count) => sum + count, 0);
}

/**
 * The players by their last round: the winner of the final, the loser of the final, then the players that lost in the round before, and so on. Players that
 * are still in the bracket come first. Late entries, which are not in the bracket, come last.
 */
function rankingOfBracket(
  view: LeagueView,
  { rounds, seeds }: Bracket,
  plan: readonly PlannedRound[],
): readonly (readonly string[])[] {
  const onward = onwardTies(plan);
  const groups = rounds
    .toReversed()
    .flatMap(({ ties }) => [
      ties.flatMap(({ id, winner }) => (winner !== null && !onward.winners.has(id) ? [winner] : [])),
      ties.filter(isDecided).flatMap((tie) => eliminatedIn(tie, onward.losers.has(tie.id))),
    ]);
  const out = new Set(groups.flat());
  const remaining = seeds.filter((player) => !out.has(player));
  const unseeded = view.players.map(({ playerId }) => playerId).filter((player) => !seeds.includes(player));
  return [remaining, ...groups, unseeded].filter((group) => group.length > 0);
}

/** The players that have lost a tie and do not play again. */
const eliminatedIn = ({ slots, winner, loser }: BracketTie, loserGoesOn: boolean): readonly string[] =>
  slots.flatMap(({ playerId }) => {
    const isOut = playerId !== winner && !(playerId === loser && loserGoesOn);
    return playerId !== null && isOut ? [playerId] : [];
  });
