import { describe, expect, it } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { changesFormat, type FormatFlags, withFormat } from "./config-overrides.ts";

const league = { league_id: "a", game: "rps.v1", format_options: { cycles: 2 } };
const config = Config.parse({ leagues: [league, { ...league, league_id: "b" }] });
const formats = (flags: FormatFlags) =>
  withFormat(config, flags).leagues.map(({ format, format_options }) => [format, format_options]);
const faultOf = (flags: FormatFlags, leagues = config): string => {
  try {
    withFormat(leagues, flags);
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return "accepted";
};

describe("the options of a command that replace the format", () => {
  it("replace the format and its options in every league", () => {
    expect(formats({ format: "swiss", rounds: 3 })).toEqual(Array(2).fill(["swiss", { rounds: 3 }]));
    expect(formats({ format: "match", formatOption: ["games=4"] })).toEqual(Array(2).fill(["match", { games: 4 }]));
    expect(formats({ format: "swiss" })).toEqual(Array(2).fill(["swiss", {}]));
  });

  it("change options of the config's format without --format", () => {
    expect(formats({ cycles: 3 })).toEqual(Array(2).fill(["round-robin", { cycles: 3 }]));
    expect(formats({ formatOption: ["makeup=true"] })).toEqual(
      Array(2).fill(["round-robin", { cycles: 2, makeup: true }]),
    );
  });

  it("leave a config unchanged if there are none", () => {
    expect(changesFormat({})).toBe(false);
    expect(withFormat(config, {})).toBe(config);
  });

  it("are rejected with the option and the league", () => {
    expect(faultOf({ format: "swis" })).toBe('--format (league a): unknown format "swis". Did you mean "swiss"?');
    expect(faultOf({ games: 3 })).toBe(
      '--games (league a): unknown option "games". Options of this format: cycles, makeup.',
    );
    expect(faultOf({ formatOption: ["cycle=3"] })).toBe(
      '--format-option cycle (league a): unknown option "cycle". Did you mean "cycles"?',
    );
  });

  it("are rejected for a game with another number of roles", () => {
    const codenames = Config.parse({ leagues: [{ league_id: "words", game: "codenames.v1" }] });
    expect(faultOf({ format: "swiss" }, codenames)).toMatch(
      /^--format \(league words\): swiss is for games of two roles, and codenames\.v1 has 4\. Use .*round-robin/,
    );
  });
});
