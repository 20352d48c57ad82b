import { expect, test } from "vitest";
import { countText, resultLine, roundText, startText, waitingText } from "./live-lines.ts";

const row = { rank: 1, played: 1, wins: 0, draws: 0, losses: 0, points: 0 };
const standings = [
  { ...row, player_id: "P01", display_name: "Alpha" },
  { ...row, player_id: "P02", display_name: "Bravo" },
];

const won = (...winners: string[]) => ({
  points: Object.fromEntries(["P01", "P02", "P03", "P09"].map((id) => [id, winners.includes(id) ? 3 : 0])),
});
const drawn = { points: { P01: 1, P02: 1 } };

const normal = { termination: "normal", faults: [] } as const;
const forfeit = { termination: "forfeit", reason: "illegal_move" } as const;

test.each([
  ["Alpha wins (rounds won)", { ...normal, ...won("P01"), reason: "rounds_won" }],
  ["draw (move limit)", { ...normal, ...drawn, reason: "move_limit" }],
  ["draw", { ...normal, ...drawn, reason: "draw" }],
  ["P09 wins (score)", { ...normal, ...won("P09"), reason: "score" }],
  ["Alpha and Bravo win (assassin)", { ...normal, ...won("P01", "P02"), reason: "assassin" }],
  [
    "Alpha and Bravo win (P03: no answer)",
    { ...forfeit, ...won("P01", "P02"), faults: [{ player_id: "P03", detail: "no answer" }] },
  ],
  ["cancelled", { termination: "aborted", points: {}, reason: "cancelled", faults: [] }],
  ["aborted (log lost)", { termination: "aborted", points: {}, reason: "log lost", faults: [] }],
  [
    "Bravo wins (Alpha: choose one_of 1, 2)",
    { ...forfeit, ...won("P02"), faults: [{ player_id: "P01", detail: "choose one_of\n1, 2" }] },
  ],
  [
    "no winner (Alpha: no answer; Bravo: HTTP 500)",
    {
      ...forfeit,
      ...won(),
      faults: [
        { player_id: "P01", detail: "no answer" },
        { player_id: "P02", detail: "HTTP 500" },
      ],
    },
  ],
  [
    `Bravo wins (Alpha: ${"x".repeat(193)}…)`,
    { ...forfeit, ...won("P02"), faults: [{ player_id: "P01", detail: "x".repeat(4000) }] },
  ],
] as const)("resultLine describes a result: %s", (line, result) => {
  expect(resultLine(result, standings)).toBe(line);
});

test.each([
  ["0 of 4 players are registered", { present: 0, needed: 4 }],
  ["2 of 3 players are registered; missing: Cid", { present: 2, needed: 3, missing: ["Cid"] }],
  ["3 of 3 players are registered; no referee is registered", { present: 3, needed: 3, isWithoutReferee: true }],
  [
    "0 of 12 players are registered; missing: A, B, C, D, E, F, G, H, I, J and 2 more",
    { present: 0, needed: 12, missing: [..."ABCDEFGHIJKL"] },
  ],
])("waitingText describes what a league waits for: %s", (text, awaited) => {
  expect(waitingText({ missing: [], isWithoutReferee: false, ...awaited })).toBe(text);
});

test("the lines about the start and the rounds of a league name what is known", () => {
  const started = { type: "league_started", league_id: "l", game: "rps.v1" } as const;
  expect(startText({ ...started, matches: 1 })).toBe("rps.v1, 1 match");
  expect(startText({ ...started, format: "Swiss system, 5 rounds", matches: 20 })).toBe(
    "rps.v1, Swiss system, 5 rounds, 20 matches",
  );
  expect(startText({ ...started, format: "Ladder", matches: null })).toBe("rps.v1, Ladder");
  const round = { type: "round_started", league_id: "l", round_id: 2 } as const;
  expect(roundText({ ...round, rounds: 5, byes: [] })).toBe("round 2 of 5");
  expect(roundText({ ...round, rounds: null, label: "Final", byes: ["Ann", "Bob"] })).toBe(
    "round 2 (Final); bye: Ann, Bob",
  );
  const names = ["A", "B", "C", "D", "E", "F", "G"];
  expect(roundText({ ...round, rounds: null, byes: names })).toBe("round 2; bye: A, B, C, D, E, 2 more");
  expect([countText(3, 10), countText(3, null)]).toEqual(["3/10", "3"]);
});
