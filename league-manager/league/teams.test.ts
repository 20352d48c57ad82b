import { expect, test } from "vitest";
import { SharedList } from "#shared/lib/list.ts";
import { formatResultOf } from "./format-view.ts";
import type { LeagueSettings } from "./league.ts";
import { standingsOf, teamStandingsOf } from "./standings-of.ts";
import { afterCommands, CODENAMES, entered, given, pair, START } from "./testing/leagues.ts";

const PAIRS: LeagueSettings = {
  ...CODENAMES,
  format: "swiss",
  formatOptions: { rounds: 2 },
  teams: [
    ["P01", "P02"],
    ["P03", "P04"],
    ["P05", "P06"],
    ["P07", "P08"],
  ],
};
const PLAYERS = ["P01", "P02", "P03", "P04", "P05", "P06", "P07", "P08"];

/** The pairs of partners of each match, in any order. */
const partners = (players: readonly string[]): readonly string[] =>
  [players.slice(0, 2), players.slice(2)].map((pairOfPlayers) => pairOfPlayers.toSorted().join(" "));

test("the format pairs teams, and partners play together", () => {
  const { league } = afterCommands([...entered(PLAYERS, PAIRS), START]);
  expect(league.rounds).toHaveLength(1);
  const all = league.rounds.at(0)?.matches.flatMap(({ players }) => partners(players));
  expect(all?.toSorted()).toEqual(["P01 P02", "P03 P04", "P05 P06", "P07 P08"]);
});

test("in the next round partners change their roles, and the standings of teams add up their matches", () => {
  const open = (roundId: number, ...shutDown: string[]) =>
    ({ type: "open_round", roundId, shutDown: new Map(shutDown.map((id) => [id, 1])) }) as const;
  // P01 is absent, so that its team loses by forfeit; the opponents of a second absent player win the other match.
  const { league } = afterCommands([...entered(PLAYERS, PAIRS), START, open(1, "P01", "P03", "P05", "P07"), pair()]);
  const [first, second] = league.rounds;
  const rolesIn = (round: typeof first): ReadonlyMap<string, number> =>
    new Map(round?.matches.flatMap(({ players }) => players.map((id, role) => [id, role % 2] as const)));
  for (const [player, role] of rolesIn(second)) expect(rolesIn(first).get(player)).toBe(1 - role);
  const teams = teamStandingsOf(league, (id) => id.toLowerCase());
  expect(
    teams?.map(({ player_id, display_name, members, played }) => [player_id, display_name, members, played]),
  ).toEqual([
    ["T1", "p01 & p02", ["P01", "P02"], 1],
    ["T2", "p03 & p04", ["P03", "P04"], 1],
    ["T3", "p05 & p06", ["P05", "P06"], 1],
    ["T4", "p07 & p08", ["P07", "P08"], 1],
  ]);
  const players = PLAYERS.map((player_id) => ({ player_id, display_name: player_id }));
  expect(standingsOf(league, players).map(({ played }) => played)).toEqual(PLAYERS.map(() => 1));
});

test("the result of a sequential test of teams has the names of their members", () => {
  const teams = PAIRS.teams?.slice(0, 2) ?? null;
  const settings = { ...PAIRS, format: "sprt", formatOptions: { elo0: 0, elo1: 200 }, teams };
  const { league } = afterCommands([...entered(PLAYERS.slice(0, 4), settings), START, pair(60)]);
  // The first team wins all matches.
  const rounds = league.rounds.map((round) => ({
    ...round,
    matches: round.matches.map((match) => {
      const points = match.players.map((id) => (id === "P01" || id === "P02" ? 3 : 0));
      return {
        ...match,
        outcome: { winner: null, points, scores: [], reason: "", termination: "normal", faults: [] } as const,
      };
    }),
  }));
  expect(formatResultOf({ ...league, rounds: SharedList.of(rounds) }, (id) => id.toLowerCase())).toMatchObject({
    state: "H1",
    text: expect.stringMatching(/^H1 accepted: p01 & p02 is better than p03 & p04: SPRT /),
  });
});

test("a team whose member has left is not paired any more", () => {
  const left = { type: "leave", playerId: "P02", agentVersion: 3 } as const;
  const { league } = afterCommands([
    ...entered(PLAYERS, PAIRS),
    START,
    {
      type: "open_round",
      roundId: 1,
      shutDown: new Map(PLAYERS.filter((_, index) => index % 2 === 0).map((id) => [id, 1])),
    },
    left,
    pair(),
  ]);
  const second = league.rounds.at(1);
  expect(second?.matches.flatMap(({ players }) => players)).not.toContain("P01");
  expect(second?.byes).toHaveLength(2);
});

test("the events of a league name its teams, and a log without them reads as before", () => {
  const { league, events } = afterCommands(entered([], PAIRS));
  expect(events[0]).toMatchObject({ type: "opened", teams: PAIRS.teams });
  expect(league.teams).toEqual(PAIRS.teams);
  expect(afterCommands(entered([], CODENAMES)).league.teams).toBeNull();
  given(...entered([], CODENAMES))
    .when({ type: "open", settings: PAIRS })
    .leadsTo(expect.objectContaining({ type: "reconfigured", teams: PAIRS.teams }));
});

test.each([
  ["single-elimination", { legs: 3 }],
  ["double-elimination", { legs: 2 }],
  ["match", { games: 6 }],
  ["gauntlet", { games: 4 }],
  ["sprt", {}],
])("%s pairs teams of three and teams of unequal size, also after a member has left", (format, formatOptions) => {
  for (const teams of [
    [PLAYERS.slice(0, 3), PLAYERS.slice(3, 6)],
    [PLAYERS.slice(0, 2), PLAYERS.slice(2, 6)],
  ]) {
    const settings = { ...PAIRS, format, formatOptions, teams };
    const leave = { type: "leave", playerId: "P03", agentVersion: 1 } as const;
    const { league } = afterCommands([...entered(PLAYERS.slice(0, 6), settings), START, pair(8), leave, pair(16)]);
    expect(league.rounds.length).toBeGreaterThan(0);
  }
});
