import { expect, test } from "vitest";
import { resultLine } from "./lines.ts";

const row = { rank: 1, played: 1, wins: 0, draws: 0, losses: 0, points: 0 };
const standings = [
  { ...row, player_id: "P01", display_name: "Alpha" },
  { ...row, player_id: "P02", display_name: "Bravo" },
];

const normal = { termination: "normal", faults: [] } as const;
const forfeit = { termination: "forfeit", reason: "illegal_move" } as const;

test.each([
  ["Alpha wins (rounds won)", { ...normal, winner: "P01", reason: "rounds_won" }],
  ["draw (move limit)", { ...normal, winner: null, reason: "move_limit" }],
  ["draw", { ...normal, winner: null, reason: "draw" }],
  ["P09 wins (score)", { ...normal, winner: "P09", reason: "score" }],
  ["aborted (log lost)", { termination: "aborted", winner: null, reason: "log lost", faults: [] }],
  [
    "Bravo wins (Alpha: choose one_of 1, 2)",
    { ...forfeit, winner: "P02", faults: [{ player_id: "P01", detail: "choose one_of\n1, 2" }] },
  ],
  [
    "nobody wins (Alpha: no answer; Bravo: HTTP 500)",
    {
      ...forfeit,
      winner: null,
      faults: [
        { player_id: "P01", detail: "no answer" },
        { player_id: "P02", detail: "HTTP 500" },
      ],
    },
  ],
  [
    `Bravo wins (Alpha: ${"x".repeat(193)}…)`,
    { ...forfeit, winner: "P02", faults: [{ player_id: "P01", detail: "x".repeat(4000) }] },
  ],
] as const)("a result for people: %s", (line, result) => {
  expect(resultLine(result, standings)).toBe(line);
});
