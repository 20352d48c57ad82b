import { expect, it, test } from "vitest";
import { FORMATS } from "#shared/formats/registry.ts";
import { Config } from "./config.ts";

/** The faults of a config with this league, as paths and messages. */
function faultsOf(league: object): readonly string[] {
  const players = ["Ada", "Ben", "Cleo", "Dan"].map((name) => ({ name, bot: "random" }));
  const leagues = [{ league_id: "late", game: "rps.v1", ...league }];
  return (Config.safeParse({ players, leagues }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join(".")}: ${message}`,
  );
}

const NO_MATCHES = "has no matches for players that enter after the start with";

test.each(["swiss", "match", "gauntlet", "ladder"])("%s accepts late entries of both kinds", (format) => {
  for (const late_entry of ["closed", "forfeit", "makeup"]) expect(faultsOf({ format, late_entry })).toEqual([]);
});

test("a round robin accepts late entries that play the matches that they have missed", () => {
  expect(faultsOf({ late_entry: "makeup" })).toEqual([]);
  expect(faultsOf({ late_entry: "forfeit", format_options: { makeup: true } })).toEqual([]);
  expect(faultsOf({ late_entry: "forfeit" })).toEqual([
    `leagues.0.late_entry: round-robin in a game of 2 roles ${NO_MATCHES} "forfeit". Use "makeup" or "closed".`,
  ]);
});

test.each(["single-elimination", "double-elimination", "sprt"])("%s accepts no late entries", (format) => {
  expect(faultsOf({ format })).toEqual([]);
  for (const late_entry of ["forfeit", "makeup"]) {
    expect(faultsOf({ format, late_entry })).toEqual([
      `leagues.0.late_entry: ${format} in a game of 2 roles ${NO_MATCHES} "${late_entry}". Use "closed".`,
    ]);
  }
});

it("rejects late entries of a round robin of a game of four roles, and of teams", () => {
  const codenames = { game: "codenames.v1", late_entry: "makeup" };
  expect(faultsOf(codenames)).toEqual([
    `leagues.0.late_entry: round-robin in a game of 4 roles ${NO_MATCHES} "makeup". Use "closed".`,
  ]);
  const teams = [
    ["Ada", "Ben"],
    ["Cleo", "Dan"],
  ];
  expect(faultsOf({ ...codenames, format: "swiss", teams })).toEqual([
    `leagues.0.late_entry: a league of teams ${NO_MATCHES} "makeup". Use "closed".`,
  ]);
});

it("decides on every format of the registry", () => {
  const late = ["swiss", "match", "gauntlet", "ladder", "round-robin"];
  const closed = FORMATS.filter(({ id }) => faultsOf({ format: id, late_entry: "makeup" }).length > 0);
  expect(closed.map(({ id }) => id)).toEqual(FORMATS.map(({ id }) => id).filter((id) => !late.includes(id)));
});
