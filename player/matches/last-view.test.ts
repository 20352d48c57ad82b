import { expect, test } from "vitest";
import type { MoveRequest } from "#shared/protocol/messages.ts";
import { LastView } from "./player.ts";

const PATH: [string] = ["rounds"];

/** A request with these elements after the first `from` ones. */
const request = (tick: number, rounds: readonly unknown[], from = 0): MoveRequest => ({
  league_id: "rps",
  match_id: "R1M1",
  epoch: 1,
  tick,
  your_role: "player_1",
  deadline: "2026-01-01T00:00:00Z",
  time_limit_seconds: 5,
  game_state: { rounds },
  ...(from > 0 && { omitted_history: { list: PATH, from } }),
});

test("the history of a match is at most a million characters long, so that requests cannot fill the memory", () => {
  const last = new LastView();
  const element = "x".repeat(99_997); // 100,000 characters of JSON with its comma
  expect(last.complete(request(0, [element]), PATH)).not.toBeNull();
  const answers = [];
  for (let from = 1; from < 12; from++) answers.push(last.complete(request(from, [element], from), PATH));
  expect(answers.map((one) => one !== null)).toEqual([...Array(8).fill(true), ...Array(3).fill(false)]);
  // It counts the elements that are kept, not those that were received.
  expect(last.complete(request(20, [element], 3), PATH)).not.toBeNull();
  const later = last.complete(request(21, ["last"], 4), PATH);
  expect(later?.game_state).toEqual({ rounds: [element, element, element, element, "last"] });
});

test("a view is completed in a game that the player does not know", () => {
  const last = new LastView();
  last.complete(request(0, [1, 2]), null);
  expect(last.complete(request(1, [3], 2), null)?.game_state).toEqual({ rounds: [1, 2, 3] });
  expect(last.complete(request(2, [4], 3), null)?.game_state).toEqual({ rounds: [1, 2, 3, 4] });
});

test("a change of the completed list has no effect on later views", () => {
  const last = new LastView();
  last.complete(request(0, [1]), null);
  for (const tick of [1, 2]) {
    const view = last.complete(request(tick, [2], 1), null)?.game_state as { rounds: number[] };
    expect(view.rounds).toEqual([1, 2]);
    view.rounds.reverse();
  }
});
