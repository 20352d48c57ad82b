/** The balance of the two roles of a game over the matches of a player. */

/** Index of a role: 0 for the first role of the game, 1 for the second. */
export type RoleIndex = 0 | 1;

/** The roles that a player has had, in the order of its matches. */
export interface RoleHistory {
  readonly length: number;
  /** How much more often the player had the first role than the second. */
  readonly difference: number;
  /** Returns the role of a match, which counts from the last one if the index is negative. */
  at(index: number): RoleIndex | undefined;
}

/** A role history that grows and shrinks at its end. */
export class Roles implements RoleHistory {
  readonly #roles: RoleIndex[] = [];
  difference = 0;

  static of(roles: Iterable<RoleIndex>): Roles {
    const history = new Roles();
    for (const role of roles) history.push(role);
    return history;
  }

  get length(): number {
    return this.#roles.length;
  }

  at(index: number): RoleIndex | undefined {
    return this.#roles.at(index);
  }

  push(role: RoleIndex): void {
    this.#roles.push(role);
    this.difference += role === 0 ? 1 : -1;
  }

  /** Removes the last role. */
  pop(): void {
    const role = this.#roles.pop();
    if (role !== undefined) this.difference -= role === 0 ? 1 : -1;
  }
}

/** The role that a player should have next. */
interface Preference {
  /** Null before the first match. */
  readonly role: RoleIndex | null;
  /** 3: the rules allow no other role. 2: the player had the other role more often. 1: the player had the other role last. 0: no preference. */
  readonly strength: 0 | 1 | 2 | 3;
}

const MAX_DIFFERENCE = 2;

const other = (role: RoleIndex): RoleIndex => (role === 0 ? 1 : 0);

/** No player has the same role three times in a row, and the numbers of both roles differ by at most two. */
function preferenceOf(history: RoleHistory): Preference {
  const last = history.at(-1);
  if (last === undefined) return { role: null, strength: 0 };
  const { difference } = history;
  const due = difference > 0 ? 1 : difference < 0 ? 0 : other(last);
  if (Math.abs(difference) >= MAX_DIFFERENCE) return { role: due, strength: 3 };
  if (history.at(-2) === last) return { role: other(last), strength: 3 };
  return { role: due, strength: difference === 0 ? 1 : 2 };
}

/**
 * What a match of two players costs in role balance: 0 if both can have the role that they should have, otherwise the strength of the weaker
 * preference, at most 2; null if the match would break the rules.
 */
export function roleCost(first: RoleHistory, second: RoleHistory): number | null {
  const [a, b] = [preferenceOf(first), preferenceOf(second)];
  if (a.role === null || b.role === null || a.role !== b.role) return 0;
  return a.strength === 3 && b.strength === 3 ? null : Math.min(a.strength, b.strength);
}

/**
 * Returns which of two players has the first role: 0 for the first-named one. The stronger preference decides, then the larger difference, then the
 * most recent match in which the two had different roles, then `fallback`.
 */
export function firstRole(one: RoleHistory, two: RoleHistory, fallback: RoleIndex): RoleIndex {
  const [a, b] = [preferenceOf(one), preferenceOf(two)];
  if (a.role === null && b.role === null) return fallback;
  if (a.role === null) return other(b.role as RoleIndex);
  if (b.role === null || a.role !== b.role) return a.role;
  const weight = ({ difference }: RoleHistory, { strength }: Preference) => 1000 * strength + Math.abs(difference);
  const advantage = weight(one, a) - weight(two, b);
  if (advantage !== 0) return advantage > 0 ? a.role : other(a.role);
  return recentDifference(one, two) ?? (fallback === 0 ? a.role : other(a.role));
}

/** Returns the role that the first-named player did not have in the most recent match in which the roles of the two differ. */
function recentDifference(one: RoleHistory, two: RoleHistory): RoleIndex | null {
  for (let back = 1; back <= Math.min(one.length, two.length); back++) {
    const role = one.at(-back);
    if (role !== undefined && role !== two.at(-back)) return other(role);
  }
  return null;
}
