import { describe, expect, it } from "vitest";
import type { League, Round } from "./league.ts";
import { omitsLiveTieBreaks, openedRounds, standingsRules, teamStandingsOf } from "./standings-of.ts";
import { afterCommands, CODENAMES, entered, running, SETTINGS, START } from "./testing/leagues.ts";

describe("the rules of the standings", () => {
  it("are those of the format with the tie-breaks of the config that this version knows", () => {
    expect(standingsRules(SETTINGS)).toEqual({ tieBreaks: ["points", "wins", "draws"], byePoints: 0 });
    const swiss = { ...SETTINGS, format: "swiss" };
    expect(standingsRules(swiss)).toMatchObject({ byePoints: 3, tieBreaks: expect.arrayContaining(["buchholz"]) });
    expect(standingsRules({ ...swiss, tieBreaks: ["points", "luck", "wins"] }).tieBreaks).toEqual(["points", "wins"]);
  });

  it("have the team of each role in a game of teams, unless this version does not know the game", () => {
    expect(standingsRules(CODENAMES).teams).toEqual([0, 0, 1, 1]);
    expect(standingsRules({ ...CODENAMES, game: "bridge.v1" })).not.toHaveProperty("teams");
  });
});

it.each([
  [1_999, ["buchholz"], false],
  [2_000, ["buchholz"], true],
  [2_000, ["points", "wins"], false],
])(
  "with %i matches and the tie-breaks %j the live standings omit tie-breaks: %s",
  (matchCount, tieBreaks, expected) => {
    const { league } = afterCommands(running(["P01", "P02"], { ...SETTINGS, tieBreaks }));
    expect(omitsLiveTieBreaks({ ...league, matchCount })).toBe(expected);
  },
);

it("the rounds that count are those that are opened, in formats that open them in order", () => {
  const { league } = afterCommands(running(["P01", "P02", "P03"]));
  expect(openedRounds(league)).toEqual([league.rounds.at(0)]);
  expect(openedRounds({ ...league, format: "match" })).toHaveLength(3);
});

describe("the standings of teams", () => {
  const teams = [
    ["P01", "P02"],
    ["P03", "P04"],
  ];
  const settings = { ...CODENAMES, teams, format: "swiss", formatOptions: { rounds: 1 } };
  const rowsOf = (league: League) => teamStandingsOf(league, (id) => id);

  it("do not exist if each player plays for itself", () => {
    expect(rowsOf(afterCommands(running(["P01", "P02"])).league)).toBeNull();
  });

  it("distinguish a forfeit that was not played from a lost match, as those of players do", () => {
    const players = teams.flat();
    const { league } = afterCommands([
      ...entered(players, settings),
      START,
      { type: "open_round", roundId: 1, shutDown: new Map([["P01", 1]]) },
    ]);
    const round = league.rounds.at(0) as Round;
    const played = { ...round, matches: round.matches.map((match) => ({ ...match, logHead: "head" })) };
    const buchholz = (rounds: League["rounds"]) =>
      rowsOf({ ...league, rounds })?.map(({ tie_breaks }) => tie_breaks?.buchholz);
    expect(buchholz(league.rounds)).toEqual([3, 0]);
    expect(buchholz(league.rounds.with(0, played))).toEqual([0, 3]);
  });
});
