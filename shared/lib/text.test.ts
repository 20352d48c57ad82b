import { describe, expect, test } from "vitest";
import { asText, escapeJson, escapeUnprintable, inOneLine, isDeeperThan, isName, jsonOf, parsedJson } from "./text.ts";

describe("isName", () => {
  test.each(["Ann", "Ö. Müller 3", "囲碁", "👩‍🚀", "a:b/c", "<b>"])("accepts %j", (name) =>
    expect(isName(name)).toBe(true),
  );
  test.each([
    "",
    "   ",
    "\u200b",
    "a\nb",
    "\u001b[2Jred",
    "\u0000",
    "\u202Eabc",
    "a\u2066b",
    "\ud800",
    "a\u2028b",
    "\u0007",
    "An\u200bn",
    "\u200eAnn",
    "An\ufeffn",
    "A\u00adnn",
    "\u3164",
  ])("rejects %j", (name) => expect(isName(name)).toBe(false));
});

test("inOneLine replaces line breaks and control characters with spaces", () => {
  expect(inOneLine("won\nP99 registered\u001b[31m: x\u202E")).toBe("won P99 registered [31m: x ");
});

test("escapeUnprintable writes invisible characters as escapes", () => {
  expect(escapeUnprintable("A\u200bn\u{1b}n\n\u202e👩‍🚀")).toBe("A\\u{200b}n\\u{1b}n\\u{a}\\u{202e}👩‍🚀");
});

test("asText and jsonOf return a text for any value and never throw", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  expect(["a", 1, null, { toString: 1 }, undefined, circular].map(asText)).toEqual([
    "a",
    "1",
    "null",
    '{"toString":1}',
    "",
    "",
  ]);
  expect(jsonOf("a")).toBe('"a"');
});

test.each<[string, unknown]>([
  ['\uFEFF{"a": 1}', { a: 1 }],
  ['\uFEFF "\uFEFFb"', "\uFEFFb"],
  ["\uFEFF\uFEFF1", undefined],
  ['{"a": \uFEFF1}', undefined],
  ["\uFEFF", undefined],
])("parsedJson of %j ignores one byte order mark at the start", (text, value) => {
  expect(parsedJson(text)).toEqual(value);
});

test("isDeeperThan measures the depth of a nested value without recursion", () => {
  const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
  expect([1, "a", null, {}, [1], { a: [{}] }].map((value) => isDeeperThan(2, value))).toEqual(Array(6).fill(false));
  expect([nested(100), nested(101), nested(102), nested(200_000)].map((value) => isDeeperThan(100, value))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test("escapeJson escapes control characters and zero-width characters without changing the value", () => {
  const value = { name: "A\u200bn\u{9b}n\u202e👩‍🚀" };
  const text = escapeJson(JSON.stringify(value, null, 1));
  expect(text).toBe('{\n "name": "A\\u200bn\\u009bn\\u202e👩‍🚀"\n}');
  expect(JSON.parse(text)).toEqual(value);
});
