import { expect, test } from "vitest";
import { Config } from "./config.ts";

const NAMES = ["Ada", "Ben", "Cleo", "Dan"];

/** The faults of a config with these teams, as paths and messages. */
function faultsOf(teams: readonly (readonly string[])[], league: object = {}): readonly string[] {
  const players = NAMES.map((name) => ({ name, bot: "random" }));
  const leagues = [{ league_id: "pairs", game: "codenames.v1", format: "swiss", teams, ...league }];
  return (Config.safeParse({ players, leagues }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join(".")}: ${message}`,
  );
}

test("fixed pairs play Codenames in a format for two roles", () => {
  expect(
    faultsOf([
      ["Ada", "Ben"],
      ["Cleo", "Dan"],
    ]),
  ).toEqual([]);
});

test("teams of more players than roles take turns, in a game without teams too", () => {
  expect(faultsOf([["Ada", "Ben", "Cleo"], ["Dan"]], { game: "chess.v1" })).toEqual([]);
});

test("without teams a format for two roles says how Codenames is played", () => {
  const [fault] = faultsOf(undefined as never);
  expect(fault).toMatch(
    /^leagues\.0\.format: swiss is for games of two roles, and codenames\.v1 has 4\. Use round-robin.*, or list the teams in teams\.$/,
  );
});

test("a team with too few players, an unknown player and a player in two teams are reported where they are", () => {
  expect(faultsOf([["Ada"], ["Cleo", "Dan"]])).toEqual([
    "leagues.0.teams.0: a team of codenames.v1 needs at least 2 players, and this one has 1",
  ]);
  expect(
    faultsOf([
      ["Ada", "Ben"],
      ["Cleo", "Dann"],
    ]),
  ).toEqual(['leagues.0.teams.1.1: no player "Dann" in players. Did you mean "Dan"?']);
  expect(
    faultsOf([
      ["Ada", "Ben"],
      ["Ben", "Dan"],
    ]),
  ).toEqual(['leagues.0.teams.1.0: "Ben" is in two teams']);
});

test("a champion that is not a player of the config is reported", () => {
  const players = NAMES.map((name) => ({ name, bot: "random" }));
  const league = { league_id: "gauntlet", game: "rps.v1", format: "gauntlet" };
  const faultsWith = (champion: string): readonly string[] =>
    (Config.safeParse({ players, leagues: [{ ...league, format_options: { champion } }] }).error?.issues ?? []).map(
      ({ path, message }) => `${path.join(".")}: ${message}`,
    );
  expect(faultsWith("Cleo")).toEqual([]);
  expect(faultsWith("Cloe")).toEqual([
    'leagues.0.format_options.champion: no player "Cloe" in players. Did you mean "Cleo"?',
  ]);
});
