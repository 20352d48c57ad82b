import type { EvenOddAction } from "#shared/games/even-odd.ts";
import type { Bot, Turn } from "../sdk.ts";

/** The numbers of earlier rounds that are compared, the longest first. */
const LENGTHS = [3, 2, 1];

/**
 * Expects the opponent to choose the parity that it chose most often after the same last rounds. It chooses a number that gives the sum its own
 * parity. In the variant with a drawn number it chooses the other word than the opponent: equal guesses are worth nothing.
 */
export default (({ view, role, legal, random }) => {
  const other = role === "ODD" ? "EVEN" : "ODD";
  const parities = view.previous_rounds.map(({ choices }) => parityOf(choices[other]));
  const expected = expectedParity(parities);
  if (expected === null) return random.pick<EvenOddAction>(legal);
  if (view.variant === "draw") return expected === "even" ? "odd" : "even";
  const wanted = (role === "ODD") === (expected === "even") ? "odd" : "even";
  return random.pick<EvenOddAction>(legal.filter((choice) => parityOf(choice) === wanted));
}) satisfies Bot<"even_odd.v1">;

type Parity = "even" | "odd";

const parityOf = (choice: Turn<"even_odd.v1">["legal"][number]): Parity =>
  typeof choice === "number" ? (choice % 2 === 0 ? "even" : "odd") : choice;

/** Returns the parity that followed the last rounds most often, by the longest sequence that has occurred before; null if none is more frequent. */
function expectedParity(parities: readonly Parity[]): Parity | null {
  for (const length of [...LENGTHS, 0]) {
    const last = parities.slice(parities.length - length).join();
    const followers = parities.filter(
      (_, index) => index >= length && parities.slice(index - length, index).join() === last,
    );
    const evens = followers.filter((parity) => parity === "even").length;
    if (2 * evens !== followers.length) return 2 * evens > followers.length ? "even" : "odd";
  }
  return null;
}
