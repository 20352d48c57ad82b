import { describe, expect, it } from "vitest";
import { z } from "zod";
import { findFormat } from "#shared/formats/registry.ts";
import type { LeagueCommand } from "./league.ts";
import { entered, given, pair, SETTINGS, START } from "./testing/leagues.ts";

const PLAYERS = ["P01", "P02", "P03"];

describe.each([
  { format: "round-robin", raised: { cycles: 100 }, fixed: { makeup: true } },
  { format: "swiss", raised: { rounds: 9 }, fixed: {} },
  { format: "single-elimination", raised: {}, fixed: { legs: 3, extra_legs: 3, third_place: true, seeding: "random" } },
  {
    format: "double-elimination",
    raised: {},
    fixed: { legs: 3, extra_legs: 3, bracket_reset: false, seeding: "random" },
  },
  { format: "match", raised: { games: 101 }, fixed: {} },
  { format: "gauntlet", raised: { games: 3 }, fixed: { champion: "P02" } },
  { format: "ladder", raised: { matches: 99 }, fixed: { max_ahead: 9 } },
  { format: "sprt", raised: { max_games: 20_001 }, fixed: { elo0: 1, elo1: 11, alpha: 0.1, beta: 0.1, model: "x" } },
])("the extension of a league of the format $format", ({ format, raised, fixed }) => {
  const extend = (formatOptions: Readonly<Record<string, unknown>>): LeagueCommand => ({
    type: "extend",
    formatOptions,
  });
  const league = [...entered(PLAYERS, { ...SETTINGS, format }), START];

  it("accepts the options that add matches", () => {
    expect(findFormat(format)?.extendable).toEqual(Object.keys(raised));
    for (const [name, value] of Object.entries(raised)) {
      given(...league)
        .when(extend({ [name]: value }))
        .leadsTo({ type: "extended", format_options: { [name]: value } });
    }
  });

  it("rejects all other options, and lists those that can be raised", () => {
    const [name] = Object.keys(raised);
    const allowed = name === undefined ? "none of its options can be raised" : `only ${name} can be raised`;
    for (const [other, value] of Object.entries(fixed)) {
      given(...league)
        .when(extend({ ...raised, [other]: value }))
        .isRejected("L001", `league rps cannot be extended by ${other}: its format is ${format}, and ${allowed}`);
    }
  });

  it("decides on every option of the format", () => {
    const { properties = {} } = z.toJSONSchema(findFormat(format)?.options as z.ZodType, { io: "input" });
    expect(Object.keys({ ...raised, ...fixed }).toSorted()).toEqual(Object.keys(properties).toSorted());
  });
});

it.each([
  ["swiss", { rounds: 1 }, "rounds"],
  ["ladder", { matches: 14 }, "matches"],
])("an extension of a league of the format %s does not shorten it below the default", (format, formatOptions, name) => {
  given(...entered(PLAYERS, { ...SETTINGS, format }), START)
    .when({ type: "extend", formatOptions })
    .isRejected("L001", `league rps cannot be extended: ${name} would leave fewer matches than before`);
});

it("an option without a default is raised to at least the number of paired rounds", () => {
  const two = [...entered([...PLAYERS, "P04"], { ...SETTINGS, format: "ladder" }), START, pair(2)];
  const extend = (matches: number): LeagueCommand => ({ type: "extend", formatOptions: { matches } });
  given(...two)
    .when(extend(1))
    .isRejected("L001", "league rps cannot be extended: matches must be a number of at least 2");
  given(...two)
    .when(extend(2))
    .isRejected("L001", "league rps cannot be extended: matches would leave fewer matches than before");
});

it("an extension may repeat options of the config, which are kept", () => {
  const formatOptions = { makeup: true, cycles: 2 };
  const league = given(...entered(PLAYERS, { ...SETTINGS, formatOptions }), START);
  league.when({ type: "extend", formatOptions }).leadsTo();
  league
    .when({ type: "extend", formatOptions: { makeup: true, cycles: 3 } })
    .leadsTo({ type: "extended", format_options: { makeup: true, cycles: 3 } });
});
