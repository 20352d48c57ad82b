import { expect, test } from "vitest";
import { MakeMove } from "./manual-bot.ts";

test.each([
  [{ number: 3 }, 3],
  [{ move: 3 }, 3],
  [{ number: 3, move: 3 }, 3],
  [{ number: 3, move: "3" }, "3"],
  [{ number: 3, move: { number: 3 } }, { number: 3 }],
  [{ move: "e4" }, "e4"],
])("the arguments %j are parsed as the move %j", (args, move) => {
  expect(MakeMove.parse(args)).toEqual({ move });
});

test.each([
  [{ number: 3, move: 4 }, /differs from number/],
  [{ number: 3, move: "rock" }, /differs from number/],
  [{ number: 3, move: { number: 4 } }, /differs from number/],
  [{}, /give {number} from 1 to 5 or {move}/],
  [{ number: 6 }, /5/],
])("the arguments %j are rejected", (args, reason) => {
  expect(MakeMove.safeParse(args).error?.issues[0]?.message).toMatch(reason);
});
