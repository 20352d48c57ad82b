import { describe, expect, it } from "vitest";
import type { Game } from "#shared/games/game.ts";
import nim from "../../scripts/starters/game/game.ts";
import { GameFault } from "./session.ts";
import { act, playSession } from "./testing/play.ts";

/** Plays nim with other functions to its end, by two actions. */
function play(changes: object): unknown {
  const game = { ...(nim as unknown as Game), ...changes } as Game;
  const participants = { first_player: "P01", second_player: "P02" };
  const setup = { id: "s", game, options: { heap: 2 }, participants, seed: "seed", at: "2026-01-01T00:00:00.000Z" };
  return playSession(setup, [act("first_player", 1), act("second_player", 1)]).session.outcome;
}

const endsWith = (outcome: unknown) => ({
  outcome: (state: { left: number }) => (state.left === 0 ? outcome : null),
});

describe("a session", () => {
  it("accepts the outcome of a game that scores each role", () => {
    expect(play({})).toEqual({ scores: { first_player: 0, second_player: 1 }, reason: "last_taken" });
  });

  it.each<[string, object, string]>([
    [
      "a score that is not a number",
      endsWith({ scores: { first_player: 0, second_player: Number.NaN }, reason: "won" }),
      "outcome returns a score that is not a finite number: NaN for second_player",
    ],
    [
      "an infinite score",
      endsWith({ scores: { first_player: Infinity, second_player: 0 }, reason: "won" }),
      "outcome returns a score that is not a finite number: Infinity for first_player",
    ],
    [
      "no score for a role",
      endsWith({ scores: { first_player: 1 }, reason: "won" }),
      "outcome returns a score that is not a finite number: undefined for second_player",
    ],
    [
      "no reason",
      endsWith({ scores: { first_player: 1, second_player: 0 } }),
      "outcome must return a reason, not undefined",
    ],
    [
      "no scores",
      endsWith({ reason: "won" }),
      "outcome returns a score that is not a finite number: undefined for first_player",
    ],
    [
      "no next state",
      { applyAction: () => undefined },
      "applyAction must return ok(STATE) or err({ message }), not undefined",
    ],
    ["a promise of the roles to act", { toAct: async () => [] }, "toAct must return a list of roles, not a Promise"],
    [
      "a promise of the next state",
      { applyAction: async () => ({ ok: true }) },
      "applyAction must return ok(STATE) or err({ message }), not a Promise",
    ],
  ])("throws a fault of the game if a function of the game returns %s", (_, changes, message) => {
    expect(() => play(changes)).toThrow(GameFault);
    expect(() => play(changes)).toThrow(`${nim.id}: ${message}`);
  });
});
