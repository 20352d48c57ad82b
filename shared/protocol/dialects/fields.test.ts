import { expect, test } from "vitest";
import { first, firstText, idOfSender, isTime, objectsIn, wholeSeconds } from "./fields.ts";

test("the first name counts before the first source, and empty values do not count", () => {
  const sources = [{ a: "", b: 1, t: " " }, { a: null, t: 5, u: " x " }, { a: false }];
  expect(first(sources, ["a", "b"])).toBe(false);
  expect(first(sources, ["z", "b"])).toBe(1);
  expect(first(sources, ["z"])).toBeUndefined();
  expect(firstText(sources, ["a", "t", "u"])).toBe("x");
  expect(firstText(sources, ["a", "b", "t"])).toBeNull();
});

test.each<[string, unknown, readonly unknown[]]>([
  ["the value itself", { a: 1 }, [{ a: 1 }]],
  ["no object in a list or a text", [{ a: 1 }], []],
  [
    "the objects in containers, the outer ones first",
    { data: { move: { a: 2 } }, params: { b: 1 }, other: { c: 1 } },
    [{ data: { move: { a: 2 } }, params: { b: 1 }, other: { c: 1 } }, { b: 1 }, { move: { a: 2 } }, { a: 2 }],
  ],
  ["JSON in a text of a container", { payload: ' {"a":1}' }, [{ payload: ' {"a":1}' }, { a: 1 }]],
  ["no object in other texts", { payload: '[{"a":1}]', params: "{no" }, [{ payload: '[{"a":1}]', params: "{no" }]],
  ["a plain result", { result: "rock" }, [{ result: "rock" }, { value: "rock" }]],
  ["a truth value as the result", { result: false }, [{ result: false }, { value: false }]],
  ["a number as the result", { result: 4 }, [{ result: 4 }, { value: 4 }]],
  [
    "a result that is null, and plain values elsewhere, which are no objects",
    { result: null, action: "rock" },
    [{ result: null, action: "rock" }],
  ],
  [
    "the texts of a tool result",
    { content: [{ text: '{"a":1}' }, { text: "rock" }, { text: 5 }, null, "x"] },
    [{ content: [{ text: '{"a":1}' }, { text: "rock" }, { text: 5 }, null, "x"] }, { a: 1 }, { value: "rock" }],
  ],
])("the objects in a message are %s", (_, value, expected) => expect(objectsIn(value)).toEqual(expected));

test("at most 30 objects of a message are read", () => {
  let value: object = {};
  for (let depth = 0; depth < 40; depth++) value = { data: value };
  expect(objectsIn(value)).toHaveLength(30);
});

test.each<[unknown, boolean]>([
  ["2025-01-15T10:05:00Z", true],
  ["2025-01-15 10:05:00", true],
  ["20250115T100500+0100", true],
  ["2025-01-15T10:05:00.1234567+01:00", true],
  [" 2025-01-15T10:05:00 ", true],
  ["2025-13-15T10:05:00Z", false],
  ["2025-01-15T25:05:00Z", false],
  ["2025-01-15", false],
  ["yesterday", false],
  [" 1736935500 ", true],
  ["1736935500123.5", true],
  ["12345678", false],
  [1_736_935_500, true],
  [0, false],
  [Number.NaN, false],
  [Infinity, false],
  [null, false],
  [{}, false],
])("%j is a time: %s", (value, expected) => expect(isTime(value)).toBe(expected));

test("a time has whole seconds in UTC, and the id of a sender follows its type", () => {
  expect(
    ["2025-01-15T10:05:00.123Z", "2025-01-15T10:05:00+00:00", "2025-01-15T10:05:00.5+00:00"].map(wholeSeconds),
  ).toEqual(["2025-01-15T10:05:00Z", "2025-01-15T10:05:00Z", "2025-01-15T10:05:00Z"]);
  expect(["player:P01", "P01", "players: P01 ", "a:b:c"].map(idOfSender)).toEqual(["P01", "P01", "P01", "b:c"]);
});
