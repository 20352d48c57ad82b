import { expect, test } from "vitest";
import { messageOf, TOO_DEEP } from "./result.ts";

const thrownBy = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (thrown) {
    return thrown;
  }
};

test.each([
  ["", "not JSON: the text ends too early"],
  ['{"a": ', "not JSON: the text ends too early"],
  ["[1,2", "not JSON (position 4)"],
  ['{\n"a":1,}', "not JSON (position 8)"],
  ["\u001b[2J", "not JSON"],
  ["not JSON at position 7", "not JSON"],
  ["untrusted ".repeat(50), "not JSON"],
])("messageOf does not quote a text that is not JSON: %j", (text, message) => {
  expect(messageOf(thrownBy(() => JSON.parse(text)))).toBe(message);
});

test("messageOf reports a value that exhausts the call stack as nested too deeply", () => {
  const value = JSON.parse("[".repeat(200_000) + "]".repeat(200_000));
  expect(messageOf(thrownBy(() => JSON.stringify(value, null, 1)))).toBe(TOO_DEEP);
});

test("messageOf returns other messages unchanged", () => {
  expect([new Error("JSON"), new SyntaxError("no such flag"), new RangeError("too long"), 3].map(messageOf)).toEqual([
    "JSON",
    "no such flag",
    "too long",
    "3",
  ]);
});
