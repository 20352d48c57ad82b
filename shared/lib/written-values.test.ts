import { describe, expect, it } from "vitest";
import { readWritten, type ValueSchema } from "./written-values.ts";

const text = { type: "string" };
const schema: ValueSchema = {
  type: "object",
  properties: {
    id: text,
    name: text,
    count: { type: "integer" },
    share: { type: ["number", "null"] },
    open: { type: "boolean" },
    claim: { anyOf: [{ type: "string", enum: ["draw"] }, { type: "null" }] },
    number: { anyOf: [{ type: "integer" }, { type: "string", const: "unlimited" }] },
    move: { anyOf: [text, { type: "number" }, { type: "object" }] },
    ids: { type: "array", items: { type: "integer" } },
    options: { type: "object", additionalProperties: { type: "number" } },
    any: {},
  },
  required: ["id"],
};

describe("a written value", () => {
  it.each<[object, object]>([
    [{ id: "a", name: null, count: "", share: null, claim: "", any: null, options: "" }, { id: "a" }],
    [{ id: "" }, { id: "" }],
    [{ id: null }, { id: null }],
    [
      { count: "5", share: " -0.5 ", open: "True" },
      { count: 5, share: -0.5, open: true },
    ],
    [{ open: "false" }, { open: false }],
    [
      { number: "3", claim: "draw" },
      { number: 3, claim: "draw" },
    ],
    [
      { number: " Unlimited", claim: "DRAW" },
      { number: "unlimited", claim: "draw" },
    ],
    [
      { options: '{"rounds": "7"}', ids: '["1", 2]' },
      { options: { rounds: 7 }, ids: [1, 2] },
    ],
    [{ options: { rounds: "7", cycles: 2 } }, { options: { rounds: 7, cycles: 2 } }],
  ])("%j is read as %j", (given, read) => {
    expect(readWritten(schema, given)).toEqual(read);
    expect(readWritten(schema, JSON.stringify(given))).toEqual(read);
  });

  it.each<object>([
    { count: "five", share: "1e3", open: "yes", claim: "win", ids: "1,2", options: "[1]", number: "many" },
    { count: "0x10", share: "Infinity", open: 1, ids: "[1", options: '{"a": 1' },
    { name: "5", move: "5", any: "5" },
    { name: 5, move: { a: "5", b: null }, any: { c: "" } },
    { unknown: null, other: "" },
    JSON.parse('{"__proto__": {"count": "5"}, "constructor": "5", "toString": ""}'),
  ])("%j is not changed", (given) => {
    expect(readWritten(schema, given)).toEqual(given);
  });

  it.each([null, 5, "", "text", [1], undefined])("%j for an object is left for the schema to reject", (given) => {
    expect(readWritten(schema, given)).toEqual(given);
  });
});
