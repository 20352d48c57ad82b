import { err, type Game, ok, z } from "agent-league/game";
import { expectTypeOf, test } from "vitest";
import type { Bot, BotObject, Turn } from "./sdk.ts";

// tsc checks these types (npm run check). A line after @ts-expect-error must not compile.

test("a bot of one game has the view and the actions of that game", () => {
  const bot = ((turn) => {
    expectTypeOf(turn).toEqualTypeOf<Turn<"chess.v1">>();
    expectTypeOf(turn.view.fen).toEqualTypeOf<string>();
    expectTypeOf(turn.legal).toEqualTypeOf<readonly string[]>();
    return turn.random.pick(turn.legal);
  }) satisfies Bot<"chess.v1">;
  expectTypeOf(bot).returns.toEqualTypeOf<string>();
});

test("a turn has the roles of its game, and a bot of all games may have any role", () => {
  expectTypeOf<Turn<"chess.v1">["role"]>().toEqualTypeOf<"white" | "black">();
  expectTypeOf<Turn<"rps.v1">["role"]>().toEqualTypeOf<"player_1" | "player_2">();
  expectTypeOf<Turn<"chess.v1" | "connect_four.v1">["role"]>().toEqualTypeOf<"white" | "black" | "red" | "yellow">();
  expectTypeOf<Turn["role"]>().toEqualTypeOf<string>();
  // @ts-expect-error rock, paper, scissors has no role `white`
  const misspelt = (({ role }) => (role === "white" ? "rock" : "paper")) satisfies Bot<"rps.v1">;
  const valid = (({ role, view }) => (view.choices[role] === null ? "rock" : "paper")) satisfies Bot<"rps.v1">;
  expectTypeOf([misspelt, valid]).toBeArray();
});

test("a bot of one game cannot return an action of another game, or nothing", () => {
  // @ts-expect-error a column of Connect Four is a number
  const text = (() => "four") satisfies Bot<"connect_four.v1">;
  // @ts-expect-error the action is "rock", "paper" or "scissors"
  const misspelt = (async () => "rok") satisfies Bot<"rps.v1">;
  // @ts-expect-error find may return undefined
  const absent = (({ legal }) => legal.find((column) => column > 3)) satisfies Bot<"connect_four.v1">;
  // @ts-expect-error the same holds for a method
  const object = { choose: () => 5 } satisfies BotObject<"chess.v1">;
  const valid = (async ({ legal }) => legal[0] ?? 1) satisfies Bot<"connect_four.v1">;
  expectTypeOf([text, misspelt, absent, object, valid]).toBeArray();
});

test("a bot of all games may return any action", () => {
  const bot = (({ game, legal, random }) => (game === "rps.v1" ? "paper" : random.pick<unknown>(legal))) satisfies Bot;
  expectTypeOf(bot).returns.toEqualTypeOf<unknown>();
});

test("the types of a definition that is checked with satisfies, and hides a card, are those of its view", () => {
  const cards = {
    id: "cards.v1",
    roles: ["a", "b"],
    info: { name: "", rules: "", simultaneous: false, hiddenInformation: true, maxActions: 1 },
    options: z.strictObject({}),
    action: z.enum(["fold", "show"]),
    initialState: ({ seed }) => ({ own: 1, seed }),
    toAct: () => [],
    legalActions: () => ["fold", "show"],
    applyAction: (_state, _role, action) =>
      action === "fold" ? ok({ own: 0, seed: "" }) : err({ message: "no card" }),
    isTerminal: () => true,
    outcome: () => null,
    viewState: ({ own }) => ({ own }),
    toText: ({ own }) => String(own),
  } satisfies Game<object, { own: number; seed: string }, "fold" | "show", { own: number }>;
  const bot = (({ view }) => (view.own > 0 ? "show" : "fold")) satisfies Bot<typeof cards>;
  // @ts-expect-error the seed is not part of the view
  const cheat = (({ view }) => (view.seed ? "show" : "fold")) satisfies Bot<typeof cards>;
  // @ts-expect-error not an action
  const misspelt = (() => "shout") satisfies Bot<typeof cards>;
  expectTypeOf([bot, cheat, misspelt]).toBeArray();
});
