import { afterEach, expect, it } from "vitest";
import { rps } from "#shared/games/rps.ts";
import type { OmittedHistory } from "#shared/protocol/message-fields.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { sessionOf } from "../sessions/host.ts";
import type { ReceivedMessage } from "../testing/match.ts";
import { askForMove, KnownHistory } from "./play-match.ts";
import { startTestMatch } from "./testing/test-match.ts";

/** The views of a player that wants only the new part of their history (PROTOCOL.md, section 2). */

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

interface Shown {
  readonly rounds: readonly number[];
  readonly omitted: unknown;
}

/** The round numbers in the view of a request, and what the request says about omitted ones. */
function shownIn({ payload }: ReceivedMessage): Shown {
  const { series } = payload.game_state as { series: { previous_rounds: { round: number }[] } };
  return { rounds: series.previous_rounds.map(({ round }) => round), omitted: payload.omitted_history };
}

/**
 * Plays the first rounds of a match of rock-paper-scissors: player_1 is asked, and player_2 always plays rock. `answer` returns the answer to the nth
 * request, null for a legal move. Resolves with the part of the history in each request.
 */
async function play(rounds: number, wantsDeltaViews: boolean, answer: (nth: number) => object | null = () => null) {
  let nth = 0;
  const test = await startTestMatch({
    answers: { player: ({ type }) => (type === "MOVE_REQUEST" ? answer(++nth) : null) },
    options: { best_of: 9 },
    moveMs: 5_000,
  });
  ends.push(() => test.close());
  const { driver, host, match, sessionId, league } = test;
  const [player] = match.players;
  if (!player) throw new Error("no player");
  for (let round = 0; round < rounds; round++) {
    const asked = await askForMove(driver, match, sessionOf(driver, sessionId), { ...player, wantsDeltaViews });
    if (!asked.ok) throw new Error(asked.error.detail);
    await host.submit(sessionId, { role: "player_2", action: "rock", expectedTick: null });
  }
  return league.received.filter(({ type }) => type === "MOVE_REQUEST").map(shownIn);
}

const omitted = (from: number): OmittedHistory => ({ list: ["series", "previous_rounds"], from });

it("a request has only the rounds that no answered request has shown", async () => {
  expect(await play(4, true)).toEqual([
    { rounds: [], omitted: undefined },
    { rounds: [1], omitted: undefined },
    { rounds: [2], omitted: omitted(1) },
    { rounds: [3], omitted: omitted(2) },
  ]);
});

it("a request has all rounds for a player that has not asked for the new ones only", async () => {
  expect((await play(4, false)).at(-1)).toEqual({ rounds: [1, 2, 3], omitted: undefined });
});

it("the request after another invitation has all rounds, because the process of the player was restarted", async () => {
  const unknown = newEnvelope("GAME_ERROR", "player:P01", { error_code: "G003", message: "unknown match" });
  expect(await play(3, true, (nth) => (nth === 3 ? unknown : null))).toEqual([
    { rounds: [], omitted: undefined },
    { rounds: [1], omitted: undefined },
    { rounds: [2], omitted: omitted(1) },
    { rounds: [1, 2], omitted: undefined },
  ]);
});

it("a player that has lost its rounds twice gets all rounds in each further request", async () => {
  const unknown = newEnvelope("GAME_ERROR", "player:P01", { error_code: "G003", message: "unknown match" });
  const shown = await play(6, true, (nth) => (nth === 3 || nth === 6 ? unknown : null));
  expect(shown.map(({ rounds, omitted }) => [rounds.length, omitted])).toEqual([
    ...[[0], [1], [1, omitted(1)], [2], [1, omitted(2)], [1, omitted(3)], [4], [5]].map(([count, left]) => [
      count,
      left,
    ]),
  ]);
});

it("each role is shown what it does not have", () => {
  const known = new KnownHistory();
  const view = (...rounds: number[]) => ({ series: { previous_rounds: rounds } });
  known.answered(rps, "player_1", { game_state: view(1, 2) });
  expect(known.shownView(rps, "player_1", view(1, 2, 3))).toEqual({ game_state: view(3), omitted_history: omitted(2) });
  expect(known.shownView(rps, "player_2", view(1, 2, 3))).toEqual({ game_state: view(1, 2, 3) });
  known.answered(rps, "player_2", { game_state: view(1) });
  known.answered(rps, "player_2", { game_state: view(2, 3), omitted_history: omitted(1) });
  expect(known.shownView(rps, "player_2", view(1, 2, 3, 4))).toEqual({
    game_state: view(4),
    omitted_history: omitted(3),
  });
  expect(known.shownView(rps, "player_1", view(1, 2, 3))).toEqual({ game_state: view(3), omitted_history: omitted(2) });
});

it("a repeated request has the rounds again that the player did not confirm with a move", async () => {
  const failed = newEnvelope("GAME_ERROR", "player:P01", { error_code: "G001", message: "no action" });
  const shown = await play(3, true, (nth) => (nth === 3 ? failed : null));
  expect(shown.slice(2)).toEqual([
    { rounds: [2], omitted: omitted(1) },
    { rounds: [2], omitted: omitted(1) },
  ]);
});
