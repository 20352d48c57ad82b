import { describe, expect, test } from "vitest";
import { SharedList } from "#shared/lib/list.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { FormatRound, LeagueView } from "./format.ts";
import { ladder } from "./ladder.ts";
import { type Disturbances, playLeague } from "./testing/play-league.ts";

const OPTIONS = ladder.options.parse({ matches: 1_000_000 });
const DISTURBANCES: Disturbances = {
  leave: 0.02,
  lateEntry: 0.03,
  forfeit: 0.1,
  doubleForfeit: 0.05,
  abort: 0.1,
  annul: 0.1,
};
const ANNULLED = { points: [], scores: [], termination: "aborted" } as const;

/** All results of the format for a view. */
const resultsOf = (view: LeagueView) => ({
  next: [0, 1, 5].map((slots) => ladder.next(view, slots, OPTIONS)),
  remaining: ladder.remaining(view, OPTIONS),
  ranking: ladder.ranking?.(view, OPTIONS),
});

/** A copy has other round objects, so that all its matches are folded. */
const copyOf = (view: LeagueView): LeagueView => ({
  ...view,
  rounds: view.rounds.map(({ matches, ...round }) => ({ ...round, matches: matches.map((match) => ({ ...match })) })),
});

const expectResultsOfCopy = (view: LeagueView): void => expect(resultsOf(view)).toEqual(resultsOf(copyOf(view)));

/** A view of a running league, whose rounds share what is equal. */
type RunningView = LeagueView & { readonly rounds: SharedList<FormatRound> };

/** The views of a league with disturbances. They share the rounds that are equal. */
function viewsOf(seed: string): readonly RunningView[] {
  const league = { format: ladder, options: ladder.options.parse({ matches: 80 }), disturbances: DISTURBANCES };
  return playLeague({ ...league, playerCount: 7, roleCount: 2, slots: 3, seed }).map(({ view }) => view as RunningView);
}

/** The view after the annulment of the matches of a round, which is mostly not the last one. */
function annulled(view: RunningView, index: number): RunningView {
  const round = view.rounds.at(index);
  if (round === undefined) return view;
  const matches = round.matches.map((match) => ({ ...match, outcome: match.outcome && ANNULLED }));
  return { ...view, rounds: view.rounds.with(index, { ...round, matches }) };
}

/** The view with the players of an earlier view, so that matches of late entries are skipped. */
const withPlayersOf = (view: RunningView, { players }: LeagueView): RunningView => ({ ...view, players });

function anyView(views: readonly RunningView[], random: Random): RunningView {
  const view = random.pick(views);
  const kind = random.int(0, 5);
  if (kind === 0) return annulled(view, random.int(0, view.rounds.length));
  return kind === 1 ? withPlayersOf(view, random.pick(views)) : view;
}

/** A completed round of one match, which adds its number to `reads` when its matches are read. */
function countedRound(index: number, players: readonly string[], reads: number[], isOpen = false): FormatRound {
  const points = [
    [3, 0],
    [1, 1],
    [0, 3],
  ][index % 3] as number[];
  const outcome = isOpen ? null : ({ points, scores: points, termination: "normal" } as const);
  const matches = [{ matchId: `R${index + 1}M1`, players, outcome }];
  return {
    roundId: index + 1,
    byes: [],
    get matches() {
      reads.push(index);
      return matches;
    },
  };
}

/** A league with completed matches of random players. */
function longView(matchCount: number, reads: number[] = []): RunningView {
  const random = createRandom("long");
  const ids = Array.from({ length: 40 }, (_, index) => `P${index + 1}`);
  const rounds = Array.from({ length: matchCount }, (_, index) => {
    const one = random.int(0, 39);
    return countedRound(index, [ids[one] as string, ids[(one + random.int(1, 39)) % 40] as string], reads);
  });
  const players = ids.map((playerId) => ({ playerId, enteredAfter: 0, hasLeft: false }));
  return { seed: "long", roleCount: 2, players, rounds: SharedList.of(rounds) };
}

describe("the fold of a ladder", () => {
  test("gives the results of a fold of all matches in each state of two leagues in turn", () => {
    for (const number of [1, 2, 3, 4, 5, 6]) {
      const [one, two] = [viewsOf(`one ${number}`), viewsOf(`two ${number}`)];
      for (let index = 0; index < Math.max(one.length, two.length); index++) {
        for (const view of [one[index], two[index]]) if (view) expectResultsOfCopy(view);
      }
    }
  });

  test("gives these results after earlier and later states, annulments and other players", () => {
    for (const number of [1, 2, 3, 4]) {
      const random = createRandom(`states ${number}`);
      const views = [viewsOf(`one ${number}`), viewsOf(`two ${number}`)];
      for (let step = 0; step < 300; step++) expectResultsOfCopy(anyView(random.pick(views), random));
    }
  });

  test("gives these results if a match changes that is too early to be undone", () => {
    // More than twice as many matches as can be undone, so that earlier changes are forgotten.
    const view = longView(21_000);
    for (const index of [20_990, 16_000, 4000, 0, 20_000]) {
      expectResultsOfCopy(view);
      expectResultsOfCopy(annulled(view, index));
      expectResultsOfCopy({ ...view, rounds: view.rounds.slice(0, index) });
    }
  });

  test("gives these results after an exception in the middle of a round", () => {
    const view = longView(10);
    const round = longView(1).rounds.at(0) as FormatRound;
    const matches = [...round.matches, null as unknown as FormatRound["matches"][number]];
    resultsOf(view);
    expect(() => resultsOf({ ...view, rounds: [...view.rounds, { ...round, matches }] })).toThrow(TypeError);
    expectResultsOfCopy(view);
  });

  test("reads only the rounds that have changed, in a league of any length", () => {
    for (const matchCount of [100, 10_000]) {
      const reads: number[] = [];
      const { rounds, ...league } = longView(matchCount, reads);
      const open = countedRound(matchCount - 3, ["P1", "P2"], reads, true);
      const before = { ...league, rounds: rounds.with(matchCount - 3, open) };
      resultsOf(before);
      reads.length = 0;
      resultsOf({ ...league, rounds });
      const last = [matchCount - 3, matchCount - 2, matchCount - 1];
      // Each of the three rounds is read when it is undone and when it is folded again.
      expect(reads).toEqual([...last, ...last]);
    }
  });
});
