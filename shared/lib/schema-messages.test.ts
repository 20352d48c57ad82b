import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { messageOf } from "./result.ts";
import { faultLine } from "./schema-messages.ts";
import { nearest } from "./text.ts";

const Seat = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("bot"), bot: z.string() }),
  z.object({ kind: z.literal("human") }),
]);
const Sample = z.strictObject({
  name: z.string().min(1).max(3),
  port: z.int().min(1).max(9),
  ratio: z.number().gt(0),
  step: z.number().multipleOf(5),
  isOpen: z.boolean(),
  kind: z.enum(["agent", "human"]),
  protocol: z.literal("league.v2"),
  move: z.union([z.string(), z.number()]),
  player: z.union([z.string(), z.object({ bot: z.string() })]),
  seats: z.array(Seat).min(2),
  id: z.uuid(),
  at: z.iso.datetime(),
  color: z.string().regex(/^#[\da-f]{6}$/),
  secret: z.string({ error: "a secret of 43 characters" }),
  checked: z.string().refine((text) => text === "yes"),
});
const valid = {
  name: "Ann",
  port: 1,
  ratio: 1,
  step: 5,
  isOpen: true,
  kind: "agent",
  protocol: "league.v2",
  move: 1,
  player: "x",
  seats: [{ kind: "human" }, { kind: "human" }],
  id: "8f14e45f-ceea-467f-a9b3-1f6f9a5b0f0e",
  at: "2026-01-31T12:00:00Z",
  color: "#ffffff",
  secret: "x",
  checked: "yes",
};

describe.each([
  ["a schema", Sample],
  ["a compiled schema", z.compile(Sample)],
])("fault messages of %s", (_, schema) => {
  test.each<[object, string]>([
    [{ name: undefined }, "name: is missing"],
    [{ name: 3 }, "name: must be text, not 3"],
    [{ name: "" }, "name: must not be empty"],
    [{ name: "Anna" }, "name: must have at most 3 characters"],
    [{ port: "1" }, "port: must be a number, not text"],
    [{ port: 1.5 }, "port: must be a whole number, not 1.5"],
    [{ port: 0 }, "port: must be at least 1"],
    [{ port: 10 }, "port: must be at most 9"],
    [{ ratio: 0 }, "ratio: must be more than 0"],
    [{ step: 4 }, "step: must be a multiple of 5"],
    [{ isOpen: "yes" }, "isOpen: must be true or false, not text"],
    [{ kind: "agnet" }, 'kind: must be "agent" or "human", not "agnet". Did you mean "agent"?'],
    [{ kind: "chess" }, 'kind: must be "agent" or "human", not "chess"'],
    [{ protocol: "league.v1" }, 'protocol: must be "league.v2", not "league.v1". Did you mean "league.v2"?'],
    [{ move: [] }, "move: must be text or a number, not a list"],
    [{ player: {} }, "player: bot: is missing"],
    [{ seats: [{ kind: "human" }] }, "seats: must have at least 2 entries"],
    [{ seats: [{ kind: "cat" }, { kind: "human" }] }, 'seats[0].kind: must be "bot" or "human"'],
    [{ seats: null }, "seats: must be a list, not null"],
    [{ id: "1" }, "id: must be a UUID"],
    [{ at: "today" }, "at: must be a date and time such as 2026-01-31T12:00:00Z"],
    [{ color: "red" }, "color: must have the form /^#[\\da-f]{6}$/"],
    [{ secret: 1 }, "secret: a secret of 43 characters"],
    [{ checked: "no" }, "checked: is not allowed"],
    [{ colour: 1 }, 'unknown field "colour". Did you mean "color"?'],
    [{ a: 1, b: 2 }, 'unknown fields "a", "b"'],
  ])("describe a value with %j as %j", (change, expected) => {
    const parsed = schema.safeParse({ ...valid, ...change });
    expect(parsed.error?.issues.map(faultLine)).toEqual([expected]);
  });
});

it.each([Sample, z.compile(Sample)])(
  "messageOf returns a thrown schema error as one line of plain text, not as JSON",
  (schema) => {
    const thrown = (() => {
      try {
        return schema.parse({ ...valid, name: 3, port: 0 });
      } catch (error) {
        return error;
      }
    })();
    expect(messageOf(thrown)).toBe("name: must be text, not 3; port: must be at least 1");
  },
);

test.each([[["x"]], [[{ message: "m" }]], [[null]]])(
  "messageOf returns the message of another library's error with issues %j unchanged",
  (issues) => {
    expect(messageOf(Object.assign(new Error("too cold"), { issues }))).toBe("too cold");
  },
);

test.each([
  ["rsp.v1", "rps.v1"],
  ["ches.v1", "chess.v1"],
  ["CHESS.V1", "chess.v1"],
  ["poker", null],
  ["x", null],
])("the known word nearest to %j is %j", (text, expected) => {
  expect(nearest(text, ["rps.v1", "chess.v1", "kuhn_poker.v1"])).toBe(expected);
});
