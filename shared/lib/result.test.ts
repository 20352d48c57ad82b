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
  ["stranger ".repeat(50), "not JSON"],
])("a text that is not JSON is not quoted: %j", (text, message) => {
  expect(messageOf(thrownBy(() => JSON.parse(text)))).toBe(message);
});

test("a value that exceeds the stack is nested too deeply", () => {
  const value = JSON.parse("[".repeat(200_000) + "]".repeat(200_000));
  expect(messageOf(thrownBy(() => JSON.stringify(value, null, 1)))).toBe(TOO_DEEP);
});

test("other messages stay as they are", () => {
  expect([new Error("JSON"), new SyntaxError("no such flag"), new RangeError("too long"), 3].map(messageOf)).toEqual([
    "JSON",
    "no such flag",
    "too long",
    "3",
  ]);
});
