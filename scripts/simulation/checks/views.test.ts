import { expect, it } from "vitest";
import { createViews } from "./secrecy.ts";

const SEAT = { match_id: "R1M1", epoch: 1, your_role: "x" };
const request = (tick: number, rounds: readonly number[], from?: number) => ({
  id: 1,
  type: "MOVE_REQUEST",
  sender: "",
  message_id: "",
  payload: {
    ...SEAT,
    tick,
    game_state: { series: { rounds } },
    ...(from !== undefined && { omitted_history: { list: ["series", "rounds"], from } }),
  },
});
const invitation = (message_id: string) => ({ id: 1, type: "GAME_INVITE", sender: "", message_id, payload: SEAT });
const shown = (rounds: readonly number[]): string => JSON.stringify({ series: { rounds } });

it("the bot receives the complete view of the request", () => {
  const views = createViews();
  views.onRequest("player 1", invitation("a"));
  const seen = (tick: number, view: string) =>
    views.onView("player 1", { leagueId: "sim", matchId: "R1M1", epoch: 1, role: "x", tick }, view);
  views.onRequest("player 1", request(2, [1, 2]));
  views.onRequest("player 1", request(4, [3], 2));
  expect(seen(4, shown([1, 2, 3]))).toEqual([]);
  expect(seen(4, shown([3]))).toHaveLength(1);
  expect(seen(6, shown([1, 2, 3]))).toHaveLength(1);
});

it("a request leaves out only what an earlier one since the last invitation has shown", () => {
  const views = createViews();
  views.onRequest("player 1", invitation("a"));
  views.onRequest("player 1", request(2, [1, 2]));
  views.onRequest("player 1", invitation("a"));
  expect(views.onRequest("player 1", request(4, [3], 2))).toEqual([]);
  expect(views.onRequest("player 1", request(6, [5], 4))).toHaveLength(1);
  views.onRequest("player 1", invitation("b"));
  expect(views.onRequest("player 1", request(8, [3], 2))).toHaveLength(1);
});

it("the view of a turn does not change", () => {
  const views = createViews();
  views.onRequest("player 1", request(2, [1]));
  expect(views.onRequest("player 1", request(2, [2]))).toHaveLength(1);
});
