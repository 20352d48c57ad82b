import type { RpsAction } from "#shared/games/rps.ts";
import type { Bot } from "../sdk.ts";
import { afterLongestRepetition, BEATEN_BY, CHOICES, closedRounds } from "./strategies/rps-rounds.ts";

/**
 * Expects the opponent to do what it did after the longest sequence of rounds that equals the last rounds, and chooses the action that wins
 * against it. Without such a sequence it chooses at random.
 */
export default (({ view, role, random }) => {
  const rounds = closedRounds(view, role);
  const expected = afterLongestRepetition(
    rounds.map(({ own, theirs }) => `${own} ${theirs}`),
    rounds.map(({ theirs }) => theirs),
  );
  return expected === null ? random.pick<RpsAction>(CHOICES) : BEATEN_BY[expected];
}) satisfies Bot<"rps.v1">;
