import { expect, test } from "vitest";
import { resultLine } from "./events.ts";

const row = { rank: 1, played: 1, wins: 0, draws: 0, losses: 0, points: 0 };
const standings = [
  { ...row, player_id: "P01", display_name: "Alpha" },
  { ...row, player_id: "P02", display_name: "Bravo" },
];

test.each([
  ["Alpha wins (rounds won)", { winner: "P01", termination: "normal", reason: "rounds_won" }],
  ["draw (move limit)", { winner: null, termination: "normal", reason: "move_limit" }],
  ["draw", { winner: null, termination: "normal", reason: "draw" }],
  ["Bravo wins (P01: no answer)", { winner: "P02", termination: "forfeit", reason: "P01: no\nanswer" }],
  ["nobody wins (both)", { winner: null, termination: "forfeit", reason: "both" }],
  ["aborted (log lost)", { winner: null, termination: "aborted", reason: "log lost" }],
  ["P09 wins (score)", { winner: "P09", termination: "normal", reason: "score" }],
] as const)("a result for people: %s", (line, result) => {
  expect(resultLine(result, standings)).toBe(line);
});
