import { expectTypeOf, test } from "vitest";
import type { Bot, BotObject, Turn } from "../../player/sdk.ts";
import type nim from "../starters/game/game.ts";

// tsc checks these types (npm run check). A line after @ts-expect-error must not compile.

test("a bot of a game of a file has the view and the actions of its definition", () => {
  const bot = ((turn) => {
    expectTypeOf(turn).toEqualTypeOf<Turn<typeof nim>>();
    expectTypeOf(turn.game).toEqualTypeOf<string>();
    expectTypeOf(turn.view.left).toEqualTypeOf<number>();
    expectTypeOf(turn.view.turn).toEqualTypeOf<"first_player" | "second_player">();
    expectTypeOf(turn.role).toEqualTypeOf<"first_player" | "second_player">();
    expectTypeOf(turn.legal).toEqualTypeOf<readonly number[]>();
    expectTypeOf(turn.history[0]?.view.left).toEqualTypeOf<number | undefined>();
    return turn.view.left % 3 || turn.random.pick(turn.legal);
  }) satisfies Bot<typeof nim>;
  expectTypeOf(bot).returns.toEqualTypeOf<number>();
});

test("a bot of a game of a file cannot return another action, or read a field that the view has not", () => {
  // @ts-expect-error an action of Nim is a number
  const text = (() => "two") satisfies Bot<typeof nim>;
  // @ts-expect-error the view of Nim has no field `sticks`
  const misspelt = (({ view }) => view.sticks) satisfies Bot<typeof nim>;
  // @ts-expect-error the same holds for a method
  const object = { choose: async () => "two" } satisfies BotObject<typeof nim>;
  // @ts-expect-error neither the id of a built-in game nor the type of a game
  const unknown = (() => 1) satisfies Bot<"nim.v1">;
  const valid = { choose: async ({ legal }) => legal[0] ?? 1 } satisfies BotObject<typeof nim>;
  expectTypeOf([text, misspelt, object, unknown, valid]).toBeArray();
});
