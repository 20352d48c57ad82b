import { expect, test } from "vitest";
import { SharedList } from "#shared/lib/list.ts";
import { createRandom } from "#shared/lib/rng.ts";
import type { FormatRound } from "./format.ts";
import { roundSummary } from "./round-summary.ts";

const OUTCOME = { points: [3, 0], scores: [1, 0], termination: "normal" } as const;
const roundOf = (roundId: number, players: readonly string[], isOpen: boolean): FormatRound => ({
  ...{ roundId, byes: [] },
  matches: [{ matchId: `R${roundId}M1`, players, outcome: isOpen ? null : OUTCOME }],
});

/** The number of open and of completed matches, and the rounds that were read for them. */
function summaryWithReads() {
  const reads: number[] = [];
  const summary = roundSummary({
    empty: () => ({ open: 0, completed: 0 }),
    add(sum, { roundId, matches }, times) {
      reads.push(roundId);
      for (const { outcome } of matches) sum[outcome === null ? "open" : "completed"] += times;
    },
  });
  return { reads, summary };
}

const openRounds = (count: number): SharedList<FormatRound> =>
  SharedList.of(Array.from({ length: count }, (_, index) => roundOf(index + 1, ["A", "B"], true)));

test("a summary is that of all rounds, in each of many versions of two leagues", () => {
  const random = createRandom("versions");
  const { summary } = summaryWithReads();
  const versions = [openRounds(3), openRounds(300)];
  for (let step = 0; step < 500; step++) {
    const rounds = random.pick(versions);
    expect(summary(rounds)).toEqual(summary([...rounds]));
    const index = random.int(0, rounds.length - 1);
    const changed = roundOf(index + 1, ["A", "B"], random.int(0, 1) === 0);
    versions.push(random.int(0, 2) === 0 ? rounds.append(changed) : rounds.with(index, changed));
  }
});

test("the rounds that have not changed are not read again, in a league of any length", () => {
  for (const length of [10, 10_000]) {
    const { reads, summary } = summaryWithReads();
    const rounds = openRounds(length);
    summary(rounds);
    reads.length = 0;
    const later = rounds.with(4, roundOf(5, ["A", "B"], false)).append(roundOf(length + 1, ["A", "B"], true));
    expect(summary(later)).toEqual({ open: length, completed: 1 });
    expect(reads).toEqual([5, 5, length + 1]);
  }
});
