import { expect, it } from "vitest";
import { recordAtRandom, replay } from "#shared/games/contract/playthroughs.ts";
import type { Game } from "#shared/games/game.ts";
import { games } from "#shared/games/registry.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { factsOf } from "#shared/web/game-view.ts";
import { announcement, resultInWords, turnInWords } from "#shared/web/texts/game-texts.ts";
import random from "../player/bots/random.ts";
import type { Turn } from "../player/sdk.ts";
import { inWords, seatText } from "../referee/play/game-tools.ts";
import { gameView } from "../referee/views.ts";
import nim from "./starters/game/game.ts";

const facts = factsOf([...Object.values(games), nim])[nim.id];
const players = { first_player: "P01", second_player: "P02" };
const setup = { id: "s", game: nim as Game, options: nim.options.parse({ heap: 3 }), participants: players };
const session = (...taken: readonly number[]) =>
  playSession(
    { ...setup, seed: "nim", at: "2026-01-01T00:00:00.000Z" },
    taken.map((take, index) => act(nim.roles[index % 2] ?? "", take)),
  ).session;
const view = (role: string, ...taken: readonly number[]) =>
  gameView(session(...taken), role, [], [], { waiting: () => null } as never, 0);

it("a page takes the name of a new game from the definition and shows the state as text", () => {
  expect(facts).toEqual({ name: "Nim", howToPlay: nim.info.rules });
  expect(view("second_player", 1)).toMatchObject({
    template: "nim.v1",
    name: "Nim",
    to_act: ["second_player"],
    legal_actions: [1, 2],
    board: "2 sticks left, second_player to move.",
  });
});

it("a page describes the turns and the result of a new game", () => {
  expect(turnInWords(view("second_player"), "second_player")).toBe("Waiting for first player (P01)");
  const finished = view("spectator", 1, 2);
  expect(resultInWords(finished, facts)).toBe("second player (P02) wins: last taken");
  expect(announcement(finished, "spectator", facts)).toBe("second player (P02) wins: last taken");
});

it("the texts of tools contain the rules, legal moves and result of a new game", () => {
  const seat = { game_id: "s", seat_token: "secret", links: {} };
  expect(seatText(seat, "http://a/game/s", nim as Game)).toContain("Take 1 or 2 sticks from the heap.");
  expect(inWords(view("second_player", 1), "your_turn", nim as Game)).toContain("Legal moves: 1, 2");
  expect(inWords(view("first_player", 1, 2), "game_over", nim as Game)).toContain(
    "The game is over: second_player wins (last taken). You have lost.",
  );
});

it("the random bot plays a new game to the end", async () => {
  let state = nim.initialState({ options: { heap: 20 }, seed: "" });
  for (let tick = 0; !nim.isTerminal(state); tick++) {
    const turn = { game: nim.id, role: state.turn, view: state, legal: nim.legalActions(state, state.turn), tick };
    const action = await random({ ...turn, random: createRandom(String(tick)) } as unknown as Turn);
    const applied = nim.applyAction(state, state.turn, action as number);
    if (!applied.ok) throw new Error(applied.error.message);
    state = applied.value;
  }
  expect(nim.outcome(state)?.reason).toBe("last_taken");
});

it("a recorded playthrough of a new game replays to the same hashes, and to other hashes after a change of the rules", () => {
  const recorded = recordAtRandom(nim as Game, { heap: 9 });
  expect(recorded.start).toMatch(/^[0-9a-f]{64}$/);
  expect(recorded.outcome).not.toBeNull();
  expect(replay(nim as Game, recorded)).toEqual(recorded);
  const changed: typeof nim = {
    ...nim,
    initialState: ({ options: { heap } }) => ({ left: heap + 2, turn: "first_player" }),
  };
  expect(replay(changed as Game, recorded)).not.toEqual(recorded);
});
