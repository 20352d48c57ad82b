import { expect, it } from "vitest";
import { planOf } from "../random-plan.ts";
import { createEpochs } from "./release.ts";

const PLAN = { ...planOf("1"), players: ["well", "well"] as const };
const envelope = (type: string, payload: object) => ({
  id: 1,
  type,
  sender: "",
  payload: { match_id: "R1M1", ...payload },
});

it("a referee that has acknowledged a withdrawal sends nothing more of the epoch and does not start it", () => {
  const epochs = createEpochs(PLAN, () => 100);
  epochs.onAnswer("manager", "referee 1", envelope("MATCH_WITHDRAWN", { epoch: 2 }), envelope("ACK", {}));
  const sent = (type: string, epoch: number, sentAt: number) =>
    epochs.onRequest("referee 1", "player 1", envelope(type, { epoch }), sentAt);
  expect(sent("MOVE_REQUEST", 2, 99)).toEqual([]);
  expect(sent("MOVE_REQUEST", 3, 101)).toEqual([]);
  expect(sent("MOVE_REQUEST", 2, 101)).toHaveLength(1);
  expect(sent("MATCH_RESULT", 1, 101)).toHaveLength(1);
  const accepted = (epoch: number) =>
    epochs.onAnswer("manager", "referee 1", envelope("START_GAME", { epoch }), envelope("START_GAME_RESPONSE", {}));
  expect(accepted(3)).toEqual([]);
  expect(accepted(2)).toHaveLength(1);
  epochs.onProcess("referee 1");
  expect(accepted(2)).toEqual([]);
});

it("a player that has accepted an epoch answers no later request of an older one", () => {
  const epochs = createEpochs(PLAN, () => 100);
  const request = envelope("MOVE_REQUEST", { epoch: 1 });
  const answer = () => epochs.onAnswer("referee 1", "player 1", request, envelope("MOVE_RESPONSE", {}));
  epochs.onRequest("referee 1", "player 1", request, 0);
  expect(answer()).toEqual([]);
  epochs.onAnswer("referee 2", "player 1", envelope("GAME_INVITE", { epoch: 2 }), envelope("", { accept: true }));
  expect(answer()).toEqual([]);
  epochs.onRequest("referee 1", "player 1", request, 0);
  expect(answer()).toHaveLength(1);
});
