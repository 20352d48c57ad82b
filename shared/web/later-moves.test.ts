import { expect, it } from "vitest";
import { laterMoves } from "./play/later-moves.ts";
import type { HistoryMove } from "./play-documents.ts";
import { chessAt } from "./testing/games.ts";

const start = { state: {}, board: "start" };
const moveAt = (tick: number): HistoryMove => ({ tick, role: "white", action: tick, text: String(tick) });

/** The room of a game with moves at these ticks. It notes the requested numbers. */
function roomWith(ticks: readonly number[]) {
  const requested: number[] = [];
  const history = async (_: unknown, from: number) => {
    requested.push(from);
    return { start, from, moves: ticks.slice(from).map(moveAt) };
  };
  return { requested, history };
}

it.each([
  ["all moves at first", null, [0, 1, 2], [0]],
  ["only the later moves afterwards", [0, 1], [0, 1, 2, 3], [1]],
  ["the last known move, if there is no later one", [0, 1], [0, 1], [1]],
  ["all moves, if a hidden one was published", [0, 2], [0, 1, 2, 3], [1, 0]],
  ["all moves of a game that had none", [], [0], [0]],
] as const)("the history of a game requests %s", async (_, known, ticks, requests) => {
  const room = roomWith(ticks);
  const before = known && { start, moves: known.map(moveAt) };
  const { moves } = await laterMoves(room, chessAt(), before);
  expect(moves.map(({ tick }) => tick)).toEqual(ticks);
  expect(room.requested).toEqual(requests);
});
