import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as rules from "./roles.ts";
import { type RoleIndex, Roles } from "./roles.ts";

const role = fc.constantFrom<RoleIndex>(0, 1);

type History = readonly RoleIndex[];
const firstRole = (one: History, two: History, fallback: RoleIndex): RoleIndex =>
  rules.firstRole(Roles.of(one), Roles.of(two), fallback);
const roleCost = (one: History, two: History): number | null => rules.roleCost(Roles.of(one), Roles.of(two));

/** Histories that follow the rules: built by taking a role that is allowed, at random. */
const history = fc.array(role, { maxLength: 9 }).map((wishes) => {
  const roles: RoleIndex[] = [];
  for (const wish of wishes) roles.push(breaksRules([...roles, wish]) ? (wish === 0 ? 1 : 0) : wish);
  return roles;
});

function breaksRules(roles: History): boolean {
  const [a, b, c] = roles.slice(-3);
  return (c !== undefined && a === b && b === c) || Math.abs(Roles.of(roles).difference) > 2;
}

describe("the roles of a match", () => {
  test("break no rule if the match has a cost, and break one if it has none", () => {
    fc.assert(
      fc.property(history, history, role, (one, two, fallback) => {
        const first = firstRole(one, two, fallback);
        const isBroken = breaksRules([...one, first]) || breaksRules([...two, first === 0 ? 1 : 0]);
        expect(roleCost(one, two) === null).toBe(isBroken);
      }),
    );
  });

  test("do not depend on which player is named first", () => {
    fc.assert(
      fc.property(history, history, role, (one, two, fallback) => {
        expect(roleCost(one, two)).toBe(roleCost(two, one));
        const mirrored = firstRole(two, one, fallback === 0 ? 1 : 0);
        if (one.join() !== two.join()) expect(firstRole(one, two, fallback)).toBe(mirrored === 0 ? 1 : 0);
      }),
    );
  });

  test.each([
    ["two equal roles in a row come before a difference", [0, 0], [1, 0, 0, 1, 0], 1],
    ["a difference of two comes before a difference of one", [0, 1, 0, 0, 1, 0], [0], 1],
    ["a difference comes before the last role", [1, 0], [0, 1, 0], 0],
    ["otherwise the roles of the most recent different match are swapped", [0, 1, 1, 0], [1, 0, 1, 0], 0],
    ["a player without a match takes the role that is left", [], [1], 1],
  ] as const)("%s", (_, one, two, expected) => {
    expect(firstRole(one, two, 0)).toBe(expected);
    expect(firstRole(one, two, 1)).toBe(expected);
  });

  test("of players without a match, or with the same matches, are those of the table or the rank", () => {
    expect([firstRole([], [], 0), firstRole([], [], 1)]).toEqual([0, 1]);
    expect([firstRole([0, 1], [0, 1], 0), firstRole([0, 1], [0, 1], 1)]).toEqual([0, 1]);
  });

  test("cost nothing, or the weaker of two equal preferences", () => {
    expect(roleCost([0], [1])).toBe(0);
    expect(roleCost([0, 1], [1, 0, 1])).toBe(1);
    expect(roleCost([0, 0], [0])).toBe(2);
    expect(roleCost([0, 0], [1, 0, 0])).toBeNull();
  });

  test("are as before when the last role is removed", () => {
    const roles = Roles.of([0, 0, 1]);
    roles.pop();
    expect([roles.length, roles.difference, roles.at(-1), roles.at(-3)]).toEqual([2, 2, 0, undefined]);
    for (let pops = 0; pops < 3; pops++) roles.pop();
    expect([roles.length, roles.difference]).toEqual([0, 0]);
  });
});
