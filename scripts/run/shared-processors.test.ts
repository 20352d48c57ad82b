import { describe, expect, test } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { sharedProcessorsWarning } from "./run.ts";

const engine = (name: string) => ({ name, uci: { command: "stockfish" } });
const builtIn = (name: string) => ({ name, bot: "random" });
const CLOCK = { clock: { initial_ms: 3_000, increment_ms: 50 } };

function warningOf(players: readonly object[], league: object, referees = {}): string | null {
  const leagues = [{ league_id: "chess", game: "chess.v1", ...league }];
  return sharedProcessorsWarning(Config.parse({ players, referees, leagues }), 2);
}

const EIGHT = ["A", "B", "C", "D", "E", "F", "G", "H"];

describe("a run whose engines share processors while their clocks run", () => {
  test.each<[string, readonly object[], object, object, number]>([
    ["eight engines in rounds", EIGHT.map(engine), CLOCK, {}, 4],
    ["three engines among built-in bots", [...["I", "J", "K"].map(engine), ...EIGHT.map(builtIn)], CLOCK, {}, 3],
    ["two engines in many games at once", [engine("A"), engine("B")], { ...CLOCK, format: "match" }, {}, 64],
    [
      "a program",
      [{ name: "A", bot: "./a.py" }, builtIn("B")],
      { ...CLOCK, format: "match" },
      { max_concurrent_matches: 3 },
      3,
    ],
  ])("is warned of: %s", (_, players, league, referees, matches) => {
    expect(warningOf(players, league, referees)).toMatch(
      new RegExp(`^up to ${matches} matches with clocks are played at the same time on 2 processors`),
    );
  });

  test.each<[string, readonly object[], object, object]>([
    ["no clocks", EIGHT.map(engine), {}, {}],
    ["as many matches as processors", EIGHT.map(engine), CLOCK, { max_concurrent_matches: 2 }],
    ["four players", EIGHT.slice(4).map(engine), CLOCK, {}],
    ["built-in bots", EIGHT.map(builtIn), CLOCK, {}],
  ])("is not warned of: %s", (_, players, league, referees) => {
    expect(warningOf(players, league, referees)).toBeNull();
  });
});
