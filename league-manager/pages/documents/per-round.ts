import type { Round } from "../../league/league.ts";

/** Returns a function that computes a value of a round only once. Rounds are never changed in place, so after a result only its round is new. */
export function perRound<T>(compute: (round: Round) => T): (round: Round) => T {
  const known = new WeakMap<Round, T>();
  return (round) => {
    let value = known.get(round);
    if (value === undefined) {
      value = compute(round);
      known.set(round, value);
    }
    return value;
  };
}
