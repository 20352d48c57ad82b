import { expect, it } from "vitest";
import { rps } from "#shared/games/rps.ts";
import { faultCauses } from "#shared/session/entry.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { FAULT_TEXTS } from "#shared/web/texts/game-texts.ts";
import type { League, Match } from "../../league/league.ts";
import { framesOf } from "../matches/match-replay.ts";
import { answerOf, causeInWords, exchangeOf, remembered, stepAfter } from "./player-errors.ts";

const SEED = "seed";
const PLAYERS = { player_1: "P01", player_2: "P02" };
const AT = "2026-01-01T00:00:00.000Z";

/** Two drawn rounds, and a third one in which the second player does not answer. */
const { log } = playSession(
  { id: "s", game: rps, options: rps.options.parse({ best_of: 5 }), participants: PLAYERS, seed: SEED, at: AT },
  [
    ...["rock", "paper"].flatMap((hand) => [act("player_1", hand), act("player_2", hand)]),
    act("player_1", "rock"),
    { type: "forfeit", faults: [{ role: "player_2", code: "G002", cause: "timeout", detail: "no answer" }] },
  ],
);
const views = { logOf: async () => log, seedOf: () => SEED };
const league = { leagueId: "rps", roles: rps.roles, seedCommitment: "c" } as unknown as League;
const match = {
  matchId: "R1M1",
  epoch: 1,
  players: Object.values(PLAYERS),
  outcome: { faults: [{ player_id: "P02", code: "G002", cause: "timeout", detail: "no answer" }] },
} as unknown as Match;

it("turns are numbered as the steps of the match's page, also if all players act at the same time", async () => {
  const frames = framesOf({ log, seed: SEED, termination: "forfeit", reason: "timeout" })?.frames ?? [];
  expect(frames).toHaveLength(3);
  // The third round was not completed: the last step shows the position after the second one.
  expect(await exchangeOf(views, league, match, "P02")).toMatchObject({ step: 2, request: "a move" });
  expect(await Promise.all([0, 2].map((tick) => stepAfter(views, league, match, tick)))).toEqual([1, 2]);
  expect(frames[2]?.moves).toEqual([
    { role: "player_1", text: "paper" },
    { role: "player_2", text: "paper" },
  ]);
});

it("an error of the bot is a failed request for a move, and its envelope is not shown", async () => {
  const answer = JSON.stringify({ type: "GAME_ERROR", payload: { error_name: "INVALID_MOVE" } });
  const fault = { player_id: "P02", code: "G001", cause: "bot_error", detail: "the bot threw an error", raw: answer };
  const lost = { ...match, outcome: { faults: [fault] } } as unknown as Match;
  const [created] = log;
  const before = { ...views, logOf: async () => (created ? [created] : []) };
  expect(await exchangeOf(before, league, lost, "P02")).toMatchObject({
    step: 0,
    request: "a move",
    detail: "the bot threw an error",
    answer: "an error instead of a move",
  });
  expect(answerOf(fault)).toBeNull();
  expect(answerOf({ ...fault, cause: "bad_reply" })).toBe(answer);
  expect(causeInWords("bot_error")).toEqual({
    text: "The bot failed with an error",
    advice: expect.stringContaining("data/logs/NAME.log"),
  });
});

it("a match without a log has no steps, and a log is replayed once for each question", async () => {
  expect(await stepAfter({ ...views, logOf: async () => [] }, league, match, 0)).toBeNull();
  let reads = 0;
  const counting = {
    ...views,
    logOf: async () => {
      reads++;
      return log;
    },
  };
  const read = remembered(stepAfter);
  const steps: (number | null)[] = [];
  for (const tick of [0, 2, 0, 2]) steps.push(await read(counting, league, match, tick));
  expect(steps).toEqual([1, 2, 1, 2]);
  expect(reads).toBe(2);
});

it("each cause of a fault has a text", () => {
  expect(Object.keys(FAULT_TEXTS).sort()).toEqual([...faultCauses].sort());
});
