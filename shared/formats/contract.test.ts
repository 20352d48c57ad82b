import { describe, expect, it, test } from "vitest";
import { activePlayers, type Format, type LeagueView, matchesOf, type NewRound, openMatches } from "./format.ts";
import { FORMATS } from "./registry.ts";
import { type Disturbances, playLeague, type SimulatedLeague, type Step } from "./testing/play-league.ts";

/** Options with which a league of 64 players ends soon, for formats whose default is a long league. */
const SHORT: Readonly<Record<string, object>> = {
  "double-elimination": { seeding: "random" },
  match: { games: 1 },
  gauntlet: { games: 3 },
  sprt: { elo1: 200, max_games: 301 },
  ladder: { matches: 150 },
};

const QUIET: Disturbances = {};
const ALL: Disturbances = {
  leave: 0.03,
  lateEntry: 0.03,
  forfeit: 0.1,
  doubleForfeit: 0.05,
  abort: 0.05,
  annul: 0.05,
};
const DISTURBANCES: Readonly<Record<string, Disturbances>> = {
  "no disturbances": QUIET,
  withdrawals: { leave: 0.2 },
  "late entries": { lateEntry: 0.1 },
  forfeits: { forfeit: 0.3 },
  "double forfeits": { doubleForfeit: 0.3 },
  "double forfeits only": { doubleForfeit: 1 },
  "aborted matches": { abort: 0.3 },
  "aborted matches only": { abort: 1 },
  "annulled matches": { annul: 0.2 },
  "all of these": ALL,
};
/** All numbers of players are played without disturbances and with all of them. */
const ALL_COUNTS = [...Array.from({ length: 16 }, (_, index) => index + 2), 31, 32, 33, 64];
const SOME_COUNTS = [2, 3, 4, 7, 8, 11, 16];

const leagueOf = (format: Format, more: Partial<SimulatedLeague> = {}): SimulatedLeague => ({
  format,
  options: format.options.parse(SHORT[format.id] ?? {}),
  playerCount: 8,
  roleCount: 2,
  slots: 4,
  seed: "contract",
  disturbances: QUIET,
  ...more,
});

/** Returns what is wrong with a round that was paired from a view. */
function faultsOfRound({ pairings, byes }: NewRound, view: LeagueView): readonly string[] {
  const active = new Set(activePlayers(view));
  const paired = new Set(pairings.flat());
  const pairingFaults = pairings.flatMap((players) => [
    ...(players.length === view.roleCount ? [] : [`${players} are not ${view.roleCount} players`]),
    ...(new Set(players).size === players.length ? [] : [`${players} has a player twice`]),
  ]);
  return [
    ...(pairings.length > 0 ? [] : ["a round has no pairings"]),
    ...pairingFaults,
    ...[...paired, ...byes].filter((player) => !active.has(player)).map((player) => `${player} is not in the league`),
    ...byes.filter((player) => paired.has(player)).map((player) => `${player} has a match and a bye`),
    ...(new Set(byes).size === byes.length ? [] : ["a player has two byes in a round"]),
    ...faultsOfLegs(pairings),
  ];
}

/** A player is in several pairings of a round only as legs: pairings of the same players that follow each other. */
function faultsOfLegs(pairings: NewRound["pairings"]): readonly string[] {
  const groups = pairings.map((players) => players.toSorted().join());
  const starts = groups.flatMap((group, index) => (group === groups[index - 1] ? [] : [pairings[index] ?? []])).flat();
  return new Set(starts).size === starts.length ? [] : ["a player is paired with different players in a round"];
}

function faultsOfStep({ format }: SimulatedLeague, { view, slots, next }: Step): readonly string[] {
  if (next === "completed" || next === "wait") return [];
  const allButLast = next.rounds.slice(0, -1).reduce((sum, { pairings }) => sum + pairings.length, 0);
  return [
    ...(next.rounds.length > 0 ? [] : ["no round is returned"]),
    ...next.rounds.flatMap((round) => faultsOfRound(round, view)),
    ...(format.opensRounds === "at_once" && allButLast >= slots ? ["a round has no free slot"] : []),
  ];
}

/** Returns the steps at which `remaining` was too low, of about 200. Steps before the last late entry are not compared. */
function faultsOfRemaining({ format, options }: SimulatedLeague, steps: readonly Step[]): readonly string[] {
  const final = steps.at(-1)?.view as LeagueView;
  const total = matchesOf(final).length;
  const compared = steps.filter((_, index) => index % Math.ceil(steps.length / 200) === 0);
  return compared.flatMap(({ view }) => {
    const remaining = format.remaining(view, options);
    if (remaining === null || view.players.length !== final.players.length) return [];
    const least = openMatches(view) + total - matchesOf(view).length;
    return remaining >= least ? [] : [`remaining is ${remaining} although ${least} matches follow`];
  });
}

/** Each player of the league is in exactly one group of the ranking, which does not depend on the seed once a round is paired. */
function faultsOfRanking({ format, options }: SimulatedLeague, { view }: Step): readonly string[] {
  const ranking = format.ranking?.(view, options);
  if (ranking === undefined) return [];
  const ranked = ranking.flat().toSorted().join();
  const players = view.players.map(({ playerId }) => playerId);
  const unseeded = format.ranking?.({ ...view, seed: "" }, options);
  if (view.rounds.length > 0 && JSON.stringify(unseeded) !== JSON.stringify(ranking))
    return ["the ranking needs the seed"];
  return ranked === players.toSorted().join() && ranking.every((group) => group.length > 0)
    ? []
    : [`the ranking ${JSON.stringify(ranking)} does not have each player once`];
}

/** The result does not depend on the seed once a round is paired, and has a text. */
function faultsOfResult({ format, options }: SimulatedLeague, { view }: Step): readonly string[] {
  const resultOf = (seen: LeagueView) => format.result?.(seen, options, (playerId) => `the player ${playerId}`);
  const result = resultOf(view);
  if (result === undefined || view.rounds.length === 0) return [];
  if (JSON.stringify(resultOf({ ...view, seed: "" })) !== JSON.stringify(result)) return ["the result needs the seed"];
  return result.text === "" ? ["the result has no text"] : [];
}

function expectContract(league: SimulatedLeague): void {
  const steps = playLeague(league);
  expect(steps[0]?.next).toHaveProperty("rounds");
  expect(steps.flatMap((step) => faultsOfStep(league, step))).toEqual([]);
  expect(steps.flatMap((step) => faultsOfRanking(league, step))).toEqual([]);
  expect(steps.flatMap((step) => faultsOfResult(league, step))).toEqual([]);
  expect(faultsOfRemaining(league, steps)).toEqual([]);
}

const countsFor = (disturbances: Disturbances): readonly number[] =>
  disturbances === QUIET || disturbances === ALL ? ALL_COUNTS : SOME_COUNTS;

/** The numbers of roles of the games that a format can pair. */
const roleCounts = ({ roles }: Format): readonly number[] => (roles === "any" ? [2, 3, 4] : [2]);

describe.each(FORMATS.map((format) => [format.id, format] as const))("the format %s", (id, format) => {
  test("describes itself", () => {
    expect(id).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(format.name.length).toBeGreaterThan(3);
    expect(format.description).toMatch(/^[A-Z].*\.$/);
    expect(format.tieBreaks.length).toBeGreaterThan(0);
    expect(FORMATS.filter((one) => one.id === id)).toEqual([format]);
  });

  test("has defaults for its options and rejects unknown options", () => {
    expect(format.options.safeParse({}).success).toBe(true);
    expect(format.options.safeParse({ unknown_option: 1 }).success).toBe(false);
  });

  test.each(Object.entries(DISTURBANCES))("keeps its obligations with %s", (name, disturbances) => {
    for (const roleCount of roleCounts(format)) {
      for (const playerCount of countsFor(disturbances).filter((count) => count >= roleCount)) {
        const seed = `${id} ${name} ${playerCount}`;
        expectContract(leagueOf(format, { playerCount, roleCount, slots: (playerCount % 5) + 1, seed, disturbances }));
      }
    }
  });

  test("depends on its arguments alone, and does not change them", () => {
    for (const { view, slots, next } of playLeague(leagueOf(format, { disturbances: ALL }))) {
      const { options } = leagueOf(format);
      // A copy shares nothing with other views, so that nothing is known of it.
      const copy = deepFreeze(structuredClone({ ...view, rounds: [...view.rounds] }));
      expect(format.next(copy, slots, options)).toEqual(next);
      expect(format.remaining(copy, options)).toBe(format.remaining(view, options));
      expect(format.result?.(copy, options, String)).toEqual(format.result?.(view, options, String));
    }
  });

  it("adds no round before a slot is free if rounds are opened at once", () => {
    const next = format.next(playLeague(leagueOf(format))[0]?.view as LeagueView, 0, leagueOf(format).options);
    if (format.opensRounds === "at_once") expect(next).toBe("wait");
    else expect(next).toHaveProperty("rounds");
  });

  it("completes a league without players at once", () => {
    const view: LeagueView = { seed: "s", roleCount: 2, players: [], rounds: [] };
    expect(format.next(view, 4, leagueOf(format).options)).toBe("completed");
    expect(format.remaining(view, leagueOf(format).options)).toBe(0);
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
