import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { type Bracket, bracketOrder } from "./bracket.ts";
import { doubleElimination, singleElimination } from "./elimination.ts";
import type { Format, LeagueView } from "./format.ts";
import { type Disturbances, playLeague, type Step } from "./testing/play-league.ts";

interface Played {
  readonly view: LeagueView;
  readonly labels: readonly string[];
  readonly bracket: Bracket;
  /** The final places of the players, with numbers for ids. */
  readonly ranking: readonly (readonly number[])[];
}

const number = (playerId: string): number => Number(playerId.slice(1));

type Winner = (players: readonly string[]) => string | null;

/** The better seed wins each match. */
const betterSeed: Winner = (players) => players.toSorted()[0] ?? null;
const draw: Winner = () => null;

/** A random player wins each match. */
function anyone(seed: string): Winner {
  const random = createRandom(seed);
  return (players) => random.pick(players);
}

/** Plays a league to its end. `winner` decides each match. */
function play<O>(
  format: Format<O>,
  options: object,
  playerCount: number,
  winner: Winner,
  more: { readonly disturbances?: Disturbances; readonly seed?: string } = {},
): Played {
  const parsed = format.options.parse(options);
  const league = { format, options: parsed, playerCount, roleCount: 2, slots: 9, seed: "s", disturbances: {}, ...more };
  const steps: readonly Step[] = playLeague({
    ...league,
    play: (players) => {
      const won = winner(players);
      return players.map((player) => (won === null ? 1 : player === won ? 3 : 0));
    },
  });
  const { view } = steps.at(-1) as Step;
  return {
    view,
    labels: steps.flatMap(({ next }) => (typeof next === "string" ? [] : next.rounds.map(({ label }) => label ?? ""))),
    bracket: format.bracket?.(view, parsed) as Bracket,
    ranking: (format.ranking?.(view, parsed) ?? []).map((group) => group.map(number)),
  };
}

/** The pairings of each round, as numbers: "1-8 4-5". */
const rounds = ({ rounds }: LeagueView): readonly string[] =>
  rounds.map(({ matches }) => matches.map(({ players }) => players.map(number).join("-")).join(" "));

const ONE_LEG = { legs: 1 };

describe("the seeds of a bracket", () => {
  test("are in the standard order: 1 meets 8, 4 meets 5, 2 meets 7 and 3 meets 6", () => {
    expect(bracketOrder(8)).toEqual([1, 8, 4, 5, 2, 7, 3, 6]);
  });

  test("form the same groups as the regions of the NCAA basketball tournament", () => {
    // Source: https://en.wikipedia.org/wiki/NCAA_Division_I_men's_basketball_tournament, "Tournament format": 1-16 8-9, 5-12 4-13, 6-11 3-14, 7-10 2-15.
    const order = bracketOrder(16);
    const groups = [0, 4, 8, 12].map((start) =>
      order
        .slice(start, start + 4)
        .toSorted((a, b) => a - b)
        .join(" "),
    );
    expect(groups.toSorted()).toEqual(["1 8 9 16", "2 7 10 15", "3 6 11 14", "4 5 12 13"].toSorted());
    const pairs = Array.from({ length: 8 }, (_, index) => (order[2 * index] ?? 0) + (order[2 * index + 1] ?? 0));
    expect(new Set(pairs)).toEqual(new Set([17]));
  });

  test("are those of the players of the league, or random by its seed", () => {
    const seeds = (seed: string) => play(singleElimination, { seeding: "random" }, 8, draw, { seed }).bracket.seeds;
    expect(seeds("a").toSorted()).toEqual(play(singleElimination, {}, 8, draw).bracket.seeds);
    expect(seeds("a")).toEqual(seeds("a"));
    expect(seeds("a")).not.toEqual(seeds("b"));
  });
});

test("the seeds are known from the first round, without the seed of the league and with players that have left", () => {
  for (const [index, playerCount] of [2, 3, 5, 6, 8, 11, 16, 33].entries()) {
    const { view, bracket } = play(singleElimination, { seeding: "random" }, playerCount, draw, { seed: `s${index}` });
    const options = singleElimination.options.parse({ seeding: "random" });
    const start = singleElimination.bracket?.({ ...view, rounds: [] }, options);
    expect(bracket.seeds).toEqual(start?.seeds);
    const players = view.players.map((player) => ({ ...player, hasLeft: true }));
    expect(singleElimination.bracket?.({ ...view, players, seed: "" }, options)).toEqual(bracket);
  }
});

describe("single elimination", () => {
  test("of eight players has a quarter-final, a semi-final and a final", () => {
    const { view, labels, ranking } = play(singleElimination, ONE_LEG, 8, betterSeed);
    expect(labels).toEqual(["Quarter-final", "Semi-final", "Final"]);
    expect(rounds(view)).toEqual(["1-8 4-5 2-7 3-6", "1-4 2-3", "1-2"]);
    expect(ranking).toEqual([[1], [2], [4, 3], [8, 5, 7, 6]]);
  });

  test("has a match for the third place if the option third_place is set", () => {
    const { labels, ranking } = play(singleElimination, { legs: 1, third_place: true }, 9, betterSeed);
    expect(labels).toEqual(["Round of 16", "Quarter-final", "Semi-final", "Third place", "Final"]);
    expect(ranking.slice(0, 4)).toEqual([[1], [2], [3], [4]]);
  });

  test("gives the best seeds a bye", () => {
    const { view, ranking } = play(singleElimination, ONE_LEG, 6, betterSeed);
    expect(view.rounds.map(({ byes }) => byes.map(number))).toEqual([[1, 2], [], []]);
    expect(rounds(view)).toEqual(["4-5 3-6", "1-4 2-3", "1-2"]);
    expect(ranking).toEqual([[1], [2], [4, 3], [5, 6]]);
  });

  test("plays the legs of a pairing with alternating roles", () => {
    const { view } = play(singleElimination, { legs: 3 }, 4, betterSeed);
    expect(rounds(view)).toEqual(["1-4 4-1 1-4 2-3 3-2 2-3", "1-2 2-1 1-2"]);
  });

  test("decides a drawn pairing by further matches, and then by seed", () => {
    const { view, labels, bracket, ranking } = play(singleElimination, { legs: 1, extra_legs: 2 }, 2, draw);
    expect(labels).toEqual(["Final", "Final, further match", "Final, further match"]);
    expect(rounds(view)).toEqual(["1-2", "2-1", "1-2"]);
    expect(bracket.rounds[0]?.ties[0]).toMatchObject({ decidedBy: "seed", winner: "P001", loser: "P002" });
    expect(ranking).toEqual([[1], [2]]);
  });

  test("ends a drawn pairing after the first further match that is not drawn", () => {
    let matches = 0;
    const winsSecond: Winner = () => (++matches < 3 ? null : "P002");
    const { view, bracket } = play(singleElimination, { legs: 2, extra_legs: 5 }, 2, winsSecond);
    expect(rounds(view)).toEqual(["1-2 2-1", "1-2"]);
    expect(bracket.rounds[0]?.ties[0]).toMatchObject({ decidedBy: "points", winner: "P002" });
  });

  test.each([
    ["double forfeits", { doubleForfeit: 1 }],
    ["aborted matches", { abort: 1 }],
  ])("decides pairings with nothing but %s by seed, after the further matches", (_, disturbances) => {
    const { view, ranking } = play(singleElimination, { legs: 1, extra_legs: 1 }, 4, betterSeed, { disturbances });
    expect(rounds(view)).toEqual(["1-4 2-3", "4-1 3-2", "1-2", "2-1"]);
    expect(ranking).toEqual([[1], [2], [4, 3]]);
  });

  test("lets the opponent of a player that has left go on without a match", () => {
    const started = play(singleElimination, ONE_LEG, 4, betterSeed).view;
    const players = started.players.map((player) => ({ ...player, hasLeft: player.playerId === "P001" }));
    const view = { ...started, players, rounds: started.rounds.slice(0, 1) };
    const options = singleElimination.options.parse(ONE_LEG);
    const { rounds: bracketRounds = [] } = singleElimination.bracket?.(view, options) ?? {};
    expect(bracketRounds[1]?.ties[0]).toMatchObject({ decidedBy: "withdrawal", winner: "P002", loser: "P001" });
    expect(singleElimination.next(view, 9, options)).toBe("completed");
    expect(singleElimination.ranking?.(view, options)).toEqual([["P002"], ["P001"], ["P004", "P003"]]);
  });

  test("keeps the winner of an earlier round if this player leaves later", () => {
    const { view } = play(singleElimination, ONE_LEG, 4, betterSeed);
    const players = view.players.map((player) => ({ ...player, hasLeft: player.playerId !== "P003" }));
    const options = singleElimination.options.parse(ONE_LEG);
    expect(singleElimination.ranking?.({ ...view, players }, options)).toEqual([["P001"], ["P002"], ["P004", "P003"]]);
  });

  test("does not pair late entries and ranks them last", () => {
    const disturbances = { lateEntry: 1 };
    const { view, ranking } = play(singleElimination, ONE_LEG, 4, betterSeed, { disturbances });
    expect(view.players.length).toBeGreaterThan(4);
    expect(view.rounds.flatMap(({ matches }) => matches.flatMap(({ players }) => players.map(number)))).not.toContain(
      5,
    );
    expect(ranking.at(-1)).toContain(5);
  });
});

describe("double elimination", () => {
  test("of eight players has the rounds of winners and losers", () => {
    const { view, labels, ranking } = play(doubleElimination, ONE_LEG, 8, betterSeed);
    expect(labels.map((label, index) => `${label}: ${rounds(view)[index]}`)).toEqual([
      "Winners' round 1: 1-8 4-5 2-7 3-6",
      "Losers' round 1: 5-8 6-7",
      "Winners' round 2: 1-4 2-3",
      "Losers' round 2: 3-5 4-6",
      "Losers' round 3: 3-4",
      "Winners' final: 1-2",
      "Losers' final: 2-3",
      "Grand final: 1-2",
    ]);
    expect(ranking).toEqual([[1], [2], [3], [4], [5, 6], [8, 7]]);
  });

  test("has a second match of the grand final if the player without a loss has lost the first", () => {
    let met = 0;
    const upset: Winner = (players) =>
      players.toSorted().join() === "P001,P002" && ++met === 2 ? "P002" : betterSeed(players);
    const reset = play(doubleElimination, ONE_LEG, 4, upset);
    expect(reset.labels.slice(-2)).toEqual(["Grand final", "Grand final, second match"]);
    expect(reset.ranking).toEqual([[1], [2], [3], [4]]);
    met = 0;
    const single = play(doubleElimination, { legs: 1, bracket_reset: false }, 4, upset);
    expect(single.labels.at(-1)).toBe("Grand final");
    expect(single.ranking).toEqual([[2], [1], [3], [4]]);
  });

  test("lets a player go on until its second loss", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 33 }), fc.integer(), (playerCount, seed) => {
        const { view, ranking } = play(doubleElimination, ONE_LEG, playerCount, anyone(`losses ${seed}`));
        const losses = new Map(view.players.map(({ playerId }) => [playerId, 0]));
        const matches = view.rounds.flatMap((round) => round.matches);
        for (const { players, outcome } of matches) {
          const loser = players[outcome?.points.indexOf(0) ?? 0] ?? "";
          losses.set(loser, (losses.get(loser) ?? 0) + 1);
        }
        const [[champion = 0] = []] = ranking;
        expect(ranking[0]).toHaveLength(1);
        for (const [playerId, count] of losses) {
          if (number(playerId) === champion) expect(count).toBeLessThanOrEqual(1);
          else expect(count).toBe(2);
        }
        // As many losses as matches: two for each player but the champion, which has none or one.
        expect(matches.length - 2 * (playerCount - 1)).toBe(losses.get(`P${String(champion).padStart(3, "0")}`));
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    [8, 3],
    [16, 4],
    [32, 5],
    [64, 7],
  ])("of %i players has no second meeting before losers' round %i", (playerCount, losersRound) => {
    for (let trial = 0; trial < 40; trial++) {
      const { view, labels } = play(doubleElimination, ONE_LEG, playerCount, anyone(`second meeting ${trial}`));
      const before = view.rounds.slice(0, labels.indexOf(`Losers' round ${losersRound}`));
      const met = before.flatMap(({ matches }) => matches.map(({ players }) => players.toSorted().join()));
      expect(new Set(met).size).toBe(met.length);
    }
  });
});

describe("the bracket of an elimination", () => {
  test("names for each slot the seed or the earlier tie, before and after it is played", () => {
    const options = doubleElimination.options.parse(ONE_LEG);
    const { view, bracket } = play(doubleElimination, ONE_LEG, 3, betterSeed);
    const start = doubleElimination.bracket?.({ ...view, rounds: [] }, options);
    expect(start?.rounds.map(({ label, section, ties }) => [label, section, ties.length])).toEqual([
      ["Winners' round 1", "winners", 2],
      ["Losers' round 1", "losers", 1],
      ["Winners' final", "winners", 1],
      ["Losers' final", "losers", 1],
      ["Grand final", "final", 1],
      ["Grand final, second match", "final", 1],
    ]);
    expect(start?.rounds[0]?.ties[0]).toEqual({
      id: "W1-1",
      slots: [
        { from: { seed: 1 }, playerId: "P001", isEmpty: false },
        { from: { seed: 4 }, playerId: null, isEmpty: true },
      ],
      matchIds: [],
      decidedBy: "bye",
      winner: "P001",
      loser: null,
    });
    expect(start?.rounds[2]?.ties[0]?.slots).toEqual([
      { from: { winnerOf: "W1-1" }, playerId: "P001", isEmpty: false },
      { from: { winnerOf: "W1-2" }, playerId: null, isEmpty: false },
    ]);
    expect(bracket.rounds[2]?.ties[0]).toMatchObject({ matchIds: ["R2M1"], winner: "P001", loser: "P002" });
    expect(bracket.rounds[1]?.ties[0]).toMatchObject({ decidedBy: "bye", winner: "P003", matchIds: [] });
    expect(bracket.rounds.at(-1)?.ties[0]).toMatchObject({ decidedBy: "not_needed", winner: "P001", loser: "P002" });
  });
});
