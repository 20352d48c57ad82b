import { describe, expect, test } from "vitest";
import { inOneLine, isName, jsonOf, toldAs } from "./text.ts";

describe("a name", () => {
  test.each(["Ann", "Ö. Müller 3", "囲碁", "👩‍🚀", "a:b/c", "<b>"])("may be %j", (name) =>
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
  ])("may not be %j", (name) => expect(isName(name)).toBe(false));
});

test("somebody else's text comes on one line, without what a terminal obeys", () => {
  expect(inOneLine("won\nP99 registered\u001b[31m: x\u202E")).toBe("won P99 registered [31m: x ");
});

test("somebody else's value is told without throwing, whatever it is", () => {
  const unwritable: Record<string, unknown> = {};
  unwritable.self = unwritable;
  expect(["a", 1, null, { toString: 1 }, undefined, unwritable].map(toldAs)).toEqual([
    "a",
    "1",
    "null",
    '{"toString":1}',
    "",
    "",
  ]);
  expect(jsonOf("a")).toBe('"a"');
});
