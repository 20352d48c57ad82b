import { z } from "zod";
import { createRandom } from "#shared/lib/rng.ts";
import {
  type Bracket,
  type BracketRound,
  type BracketSlot,
  type BracketTie,
  bracketOrder,
  bracketSize,
  type Decision,
  doubleEliminationPlan,
  onwardTies,
  type PlannedRound,
  type PlannedTie,
  type Source,
  singleEliminationPlan,
} from "./bracket.ts";
import {
  activePlayers,
  type Format,
  type FormatMatch,
  type FormatRound,
  type LeagueView,
  type NewRound,
  type Next,
  openMatches,
  pairKey,
} from "./format.ts";

/** The options of all formats with a bracket. */
const BRACKET_OPTIONS = {
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
function eliminationRules<Options extends BracketRules>(
  planOf: (playerCount: number, options: Options) => readonly PlannedRound[],
) {
  const planned = (view: LeagueView, options: Options) => planOf(seedsOf(view, options).length, options);
  const bracket = (view: LeagueView, options: Options) => bracketOf(view, planned(view, options), options);
  return {
    extendable: [],
    roles: "two",
    opensRounds: "in_order",
    byePoints: 0,
    tieBreaks: ["points", "wins"],
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

const SingleEliminationOptions = z.strictObject({
  ...BRACKET_OPTIONS,
  third_place: z.boolean().default(false).describe("Whether the losers of the semi-finals play for the third place."),
});
type SingleEliminationOptions = z.infer<typeof SingleEliminationOptions>;

export const singleElimination: Format<SingleEliminationOptions> = {
  id: "single-elimination",
  name: "Single elimination",
  description: "The winner of each pairing goes on to the next round; the last one wins the league.",
  options: SingleEliminationOptions,
  switches: { third_place: { on: "with a match for the third place", off: "" } },
  ...eliminationRules((playerCount, options: SingleEliminationOptions) =>
    singleEliminationPlan(playerCount, options.third_place),
  ),
};

const DoubleEliminationOptions = z.strictObject({
  ...BRACKET_OPTIONS,
  bracket_reset: z
    .boolean()
    .default(true)
    .describe("Whether the grand final has a second match if the player without a loss has lost the first."),
});
type DoubleEliminationOptions = z.infer<typeof DoubleEliminationOptions>;

export const doubleElimination: Format<DoubleEliminationOptions> = {
  id: "double-elimination",
  name: "Double elimination",
  description: "A player is out after its second loss: losers of the winners' rounds go on in the losers' rounds.",
  options: DoubleEliminationOptions,
  switches: { bracket_reset: { on: "", off: "only one match in the grand final" } },
  ...eliminationRules((playerCount, options: DoubleEliminationOptions) =>
    doubleEliminationPlan(playerCount, options.bracket_reset),
  ),
};

interface BracketRules {
  readonly seeding: "entry" | "random";
  /** The matches of a tie that are played in any case. */
  readonly legs: number;
  /** The number of further matches of a tie that is level, one at a time. */
  readonly extra_legs: number;
}

/** The players of the bracket by seed. Late entries are not in the bracket. */
function seedsOf(view: LeagueView, { seeding }: BracketRules): readonly string[] {
  const [first] = view.rounds;
  if (first !== undefined) return seedsOfRound(first);
  const players = activePlayers(view);
  return seeding === "entry" ? players : createRandom(`${view.seed} seeding`).shuffle(players);
}

/**
 * The seeds of the players of the first round, so that the bracket does not change when players leave, and random seeds are known without the seed of the
 * league. The round lists pairings and byes in the order of the bracket; the first leg of a pairing names the better seed first.
 */
function seedsOfRound({ matches, byes }: FormatRound): readonly string[] {
  const pairs = matches
    .map(({ players }) => players)
    .filter((players, index, all) => !all[index - 1]?.includes(players[0] ?? ""));
  const count = 2 * pairs.length + byes.length;
  const seeds: string[] = [];
  const [nextPair, nextBye] = [pairs.values(), byes.values()];
  const order = bracketOrder(bracketSize(count));
  for (let index = 0; index < order.length; index += 2) {
    const [better = 0, worse = 0] = [order[index], order[index + 1]];
    const [one = "", two = ""] = worse > count ? [nextBye.next().value] : (nextPair.next().value ?? []);
    seeds[better - 1] = one;
    if (worse <= count) seeds[worse - 1] = two;
  }
  return seeds;
}

/** The rounds of the league, read from the first to the last while the rounds of the bracket are filled in. */
interface Reader {
  readonly view: LeagueView;
  readonly rules: BracketRules;
  readonly seeds: readonly string[];
  readonly hasLeft: ReadonlySet<string>;
  readonly results: Map<string, BracketTie>;
  /** The index of the first round of the league that no round of the bracket has read. */
  position: number;
}

/**
 * Fills a plan with the players and matches of a league. Each round of the bracket has one round in the league, and one for each further match of level
 * ties. A round of the bracket without any match has none.
 */
function bracketOf(view: LeagueView, plan: readonly PlannedRound[], rules: BracketRules): Bracket {
  const hasLeft = new Set(view.players.filter((player) => player.hasLeft).map(({ playerId }) => playerId));
  const reader: Reader = { view, rules, seeds: seedsOf(view, rules), hasLeft, results: new Map(), position: 0 };
  let isReached = true;
  const rounds = plan.map(({ label, section, ties: planned }) => {
    const ties = isReached
      ? readRound(reader, planned)
      : planned.map((tie) => undecided(tie, slotsOf(reader, tie), []));
    for (const tie of ties) reader.results.set(tie.id, tie);
    isReached &&= ties.every(({ decidedBy }) => decidedBy !== null);
    return { label, section, ties };
  });
  return { seeds: reader.seeds, rounds };
}

/** Fills a round of the bracket whose earlier rounds are all decided. */
function readRound(reader: Reader, planned: readonly PlannedTie[]): readonly BracketTie[] {
  const start = reader.position;
  const slots = planned.map((tie) => slotsOf(reader, tie));
  const keys = slots.map(([one, two]) => pairKey(one.playerId ?? "", two.playerId ?? ""));
  const matches = planned.map((): FormatMatch[] => []);
  for (;;) {
    const round = reader.view.rounds.at(reader.position);
    const isOpen = (index: number): boolean => decisionByPoints(slots[index], matches[index] ?? [], reader) === null;
    const found = (round?.matches ?? []).filter(({ players }) => {
      const index = keys.indexOf(pairKey(players[0] ?? "", players[1] ?? ""));
      return index !== -1 && isOpen(index);
    });
    if (found.length === 0) break;
    for (const match of found)
      matches[keys.indexOf(pairKey(match.players[0] ?? "", match.players[1] ?? ""))]?.push(match);
    reader.position++;
  }
  return planned.map((tie, index) => readTie(reader, tie, slots[index] as Slots, matches[index] ?? [], start));
}

type Slots = BracketTie["slots"];

const slotsOf = (reader: Reader, { sources: [one, two] }: PlannedTie): Slots => [
  slotOf(reader, one),
  slotOf(reader, two),
];

function slotOf({ seeds, results }: Reader, from: Source): BracketSlot {
  if ("seed" in from) {
    const playerId = seeds[from.seed - 1] ?? null;
    return { from, playerId, isEmpty: playerId === null };
  }
  const tie = results.get("winnerOf" in from ? from.winnerOf : from.loserOf);
  const playerId = ("winnerOf" in from ? tie?.winner : tie?.loser) ?? null;
  return { from, playerId, isEmpty: playerId === null && tie !== undefined && tie.decidedBy !== null };
}

const undecided = ({ id }: PlannedTie, slots: Slots, matches: readonly FormatMatch[]): BracketTie => ({
  id,
  slots,
  matchIds: matches.map(({ matchId }) => matchId),
  decidedBy: null,
  winner: null,
  loser: null,
});

/** Decides a tie of a round that is reached. `start` is the index of the first round of the league in which the players can have got further. */
function readTie(
  reader: Reader,
  planned: PlannedTie,
  slots: Slots,
  matches: readonly FormatMatch[],
  start: number,
): BracketTie {
  const open = undecided(planned, slots, matches);
  const [one, two] = slots.map(({ playerId }) => playerId) as [string | null, string | null];
  const decided = (decidedBy: Decision, winner: string | null): BracketTie => {
    const loser = winner === null ? null : winner === one ? two : one;
    return { ...open, decidedBy, winner, loser };
  };
  const earlier = reader.results.get(planned.onlyIfUpset ?? "");
  if (earlier !== undefined && (earlier.loser === null || earlier.loser !== earlier.slots[0].playerId))
    return decided("not_needed", earlier.winner);
  if (one === null || two === null) return one === two ? decided("empty", null) : decided("bye", one ?? two);
  if (matches.some(({ outcome }) => outcome === null)) return open;
  const byPoints = decisionByPoints(slots, matches, reader);
  if (byPoints !== null) return decided(...byPoints);
  if (!reader.hasLeft.has(one) && !reader.hasLeft.has(two)) return open;
  const later = reader.view.rounds.slice(matches.length === 0 ? start : reader.position);
  const gotFurther = (player: string): boolean =>
    later.some((round) => round.byes.includes(player) || round.matches.some(({ players }) => players.includes(player)));
  const winner = [one, two].find((player) => !reader.hasLeft.has(player)) ?? [one, two].find(gotFurther) ?? null;
  return decided("withdrawal", winner);
}

/** Returns how the completed matches decide a tie; null if further matches are needed. The better seed wins when all further matches are played. */
function decisionByPoints(
  slots: Slots | undefined,
  matches: readonly FormatMatch[],
  { rules, seeds }: Reader,
): [Decision, string] | null {
  const [one, two] = slots?.map(({ playerId }) => playerId) ?? [];
  if (!one || !two || matches.length < rules.legs) return null;
  const pointsOf = (player: string): number =>
    matches.reduce((sum, { players, outcome }) => sum + (outcome?.points[players.indexOf(player)] ?? 0), 0);
  const lead = pointsOf(one) - pointsOf(two);
  if (lead !== 0) return ["points", lead > 0 ? one : two];
  if (matches.length < rules.legs + rules.extra_legs) return null;
  return ["seed", seeds.indexOf(one) < seeds.indexOf(two) ? one : two];
}
