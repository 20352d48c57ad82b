import { createRandom } from "#shared/lib/rng.ts";
import type { FormatMatch, FormatRound, LeagueView } from "./format.ts";
import type {
  Bracket,
  BracketSlot,
  BracketTie,
  Decision,
  PlannedRound,
  PlannedTie,
  Source,
} from "./pairing/bracket.ts";
import { bracketOrder, bracketSize } from "./pairing/bracket-plan.ts";
import { activePlayers, pairKey } from "./view.ts";

export interface BracketRules {
  readonly seeding: "entry" | "random";
  /** The matches of a tie that are played in any case. */
  readonly legs: number;
  /** The number of further matches of a tie that is level, one at a time. */
  readonly extra_legs: number;
}

/** The players of the bracket by seed. Late entries are not in the bracket. */
export function seedsOf(view: LeagueView, { seeding }: BracketRules): readonly string[] {
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
export function bracketOf(view: LeagueView, plan: readonly PlannedRound[], rules: BracketRules): Bracket {
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
  ...{ id, slots, matchIds: matches.map(({ matchId }) => matchId), decidedBy: null, winner: null, loser: null },
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
