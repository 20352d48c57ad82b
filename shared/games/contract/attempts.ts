import type { Random } from "../../lib/rng.ts";
import type { Game, Role } from "../game.ts";
import { canonicalJson } from "./values.ts";

/** Values that are not actions of any game. */
export const GARBAGE: readonly unknown[] = [
  ...[null, true, 0, -0, -1, 1.5, 2 ** 53, "", " ", "--", "null", "__proto__", "constructor", "x".repeat(10_000)],
  ...[[], {}, [[]], { number: 3 }, { number: "3" }, { length: 4 }, { toString: "e2e4" }],
  JSON.parse('{"__proto__": 1}'),
];

const NO_ROLES = ["spectator", "", "__proto__", "constructor", "toString", "WHITE"];

/** Returns the roles of a game and names that are not roles. */
export const rolesAndOthers = (game: Game): readonly Role[] => [
  ...game.roles,
  ...NO_ROLES.filter((name) => !game.roles.includes(name)),
];

/** Returns values that are similar to an action. */
export function nearMisses(action: unknown): readonly unknown[] {
  const wrapped = [[action], { action }, canonicalJson(action)];
  if (typeof action === "number") return [...wrapped, action + 10, -action, action + 0.5, String(action)];
  if (typeof action !== "string") return wrapped;
  const reversed = [...action].reverse().join("");
  const longer = [`${action}q`, `${action} `, ` ${action}`, `${action}\n`];
  return [...wrapped, ...longer, action.toUpperCase(), action.slice(0, -1), reversed];
}

/** Returns a random JSON value of at most `depth` levels. */
export function randomJson(random: Random, depth = 3): unknown {
  const kind = random.int(0, depth > 0 ? 7 : 5);
  const items = <T>(make: () => T): T[] => Array.from({ length: random.int(0, 3) }, make);
  switch (kind) {
    case 0:
      return null;
    case 1:
      return random.next() < 0.5;
    case 2:
      return random.int(-10, 100);
    case 3:
      return random.next() * 10 ** random.int(0, 20);
    case 4:
      return items(() => String.fromCharCode(random.int(32, 0x3ff))).join("");
    case 5:
      return random.pick(["", "a1", "pass", "__proto__", "\u0000", "0", "-1"]);
    case 6:
      return items(() => randomJson(random, depth - 1));
    default:
      return Object.fromEntries(
        items(() => [random.pick(["type", "number", "move", "x", "length"]), randomJson(random, depth - 1)]),
      );
  }
}
