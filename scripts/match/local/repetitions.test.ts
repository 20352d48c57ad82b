import { expect, test } from "vitest";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { Repetitions, repetitionText } from "./play-locally.ts";

const AT = "2026-01-01T00:00:00.000Z";

/** A game with these actions of the first role. */
function game(players: readonly [string, string], ...actions: readonly string[]): MatchResult {
  const participants = { white: `${players[0]}@match/R1M1`, black: `${players[1]}@match/R1M1` };
  const created = {
    type: "created",
    session_id: "s",
    game: "g",
    options: {},
    participants,
    seed_commitment: "",
    at: AT,
  };
  const acted = actions.map((action, tick) => ({
    type: "acted",
    tick,
    role: "white",
    agent: participants.white,
    action,
    at: AT,
  }));
  return {
    termination: "normal",
    log: [created, ...acted].map((entry) => JSON.stringify(entry)),
  } as unknown as MatchResult;
}

test("five equal games of the same players in the same roles are a repetition", () => {
  const repetitions = new Repetitions();
  for (let count = 0; count < 4; count++) {
    repetitions.add(game(["A", "B"], "e4"));
    repetitions.add(game(["B", "A"], "d4"));
  }
  expect(repetitions.equal()).toEqual([]);
  repetitions.add(game(["A", "B"], "e4"));
  expect(repetitions.equal()).toEqual([["A", "B"]]);
});

test("one different game ends a repetition", () => {
  const repetitions = new Repetitions();
  for (let count = 0; count < 9; count++) repetitions.add(game(["A", "B"], "e4"));
  repetitions.add(game(["A", "B"], "e4", "e5"));
  for (let count = 0; count < 9; count++) repetitions.add(game(["A", "B"], "e4"));
  expect(repetitions.equal()).toEqual([]);
});

test.each(["aborted", "forfeit"] as const)("games that end by %s do not count", (termination) => {
  const repetitions = new Repetitions();
  for (let count = 0; count < 9; count++) repetitions.add({ ...game(["A", "B"]), termination });
  expect(repetitions.equal()).toEqual([]);
});

test("the notice names openings only if they can make the games different", () => {
  expect(repetitionText(["A", "B"], true)).toMatch(/^all games of A and B in these roles are equal, .*--openings/);
  expect(repetitionText(["A", "B"], false)).not.toContain("openings");
});
