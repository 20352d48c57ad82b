import { describe, expect, test } from "vitest";
import { type History, type HistoryEntry, history } from "./history.ts";
import { PUBLISHED_SWISS } from "./testing/published-swiss.ts";
import { TIE_BREAKS, type TieBreakId } from "./tie-breaks.ts";

/**
 * Published tie-breaks. Sources:
 * - A Swiss tournament of five rounds and a round robin, with the answers of the exercises: testing/published-swiss.ts names the source.
 * - The tournament of Lippstadt 2003, with 3 points for a win, after round 8, as posted by Ricardo Gibert in the Computer Chess Club on 2003-08-15
 *   (https://www.stmintz.com/ccc/index.php?id=311435), with Sonneborn-Berger as published by the organizer. The post omits the empty cells of the
 *   crosstable; its rows, points and Sonneborn-Berger values determine them.
 */

const CLASSICAL = { win: 1, draw: 0.5 };

/** In the notation of `PUBLISHED_SWISS`. */
const ROUND_ROBIN = [
  "w5= w2+ b3+ w4- b6+",
  "w6+ b1- w5+ w3= b4+",
  "w4+ b6+ w1- b2= w5+",
  "b3- b5- w6= b1+ w2-",
  "b1= w4+ b2- F6- b3-",
  "b2- w3- b4= F5+ w1-",
].map((row) => row.split(" "));

/** The crosstable of Lippstadt: a dot is a game that is not played yet. */
const LIPPSTADT = [
  ["Brutus", "*.==11=1.1.1"],
  ["Maiwald", ".*===1=1..1="],
  ["Cyborowski", "==*.=.==1.11"],
  ["Ruck", "==.*.==.=11="],
  ["Chiburdanidze", "0==.*.==1=1."],
  ["Smeets", "00.=.*.===11"],
  ["Gustafsson", "=====.*01=.."],
  ["Jenni", "00=.==1*..01"],
  ["Schenk", "..0=0=0.*11="],
  ["Wehmeier", "0..0===.0*=1"],
  ["Brenke", ".00000.10=*."],
  ["Romanishin", "0=0=.0.0=0.*"],
] as const;

const SPECIAL: Readonly<Record<string, Partial<HistoryEntry>>> = {
  bye: { points: 1, share: 1 },
  half: { points: 0.5, share: 0.5, isVoluntary: true },
  zero: { isVoluntary: true },
};

function entryOf(cell: string, roundId: number, isAdjusted: boolean): HistoryEntry {
  const unplayed = { roundId, points: 0, share: 0, opponents: [], isPlayed: false, isVoluntary: false, seat: null };
  const special = SPECIAL[cell];
  if (special) return { ...unplayed, ...special };
  const [, kind, opponent = "", sign = ""] = /^([wbF])(\d+)([+=-])$/.exec(cell) ?? [];
  const share = { "+": 1, "=": 0.5, "-": 0 }[sign] as number;
  const isPlayed = kind !== "F" || !isAdjusted;
  const isVoluntary = !isPlayed && share === 0;
  return { roundId, points: share, share, opponents: [opponent], isPlayed, isVoluntary, seat: kind === "b" ? 1 : 0 };
}

function tournament(rows: readonly (readonly string[])[], isAdjusted: boolean): History {
  const entries = rows.map((row, index) => {
    const list = row.map((cell, round) => entryOf(cell, round + 1, isAdjusted));
    return [String(index + 1), list] as const;
  });
  return history(new Map(entries), [1, 2, 3, 4, 5], isAdjusted, CLASSICAL);
}

/** The values of a tie-break in the order of the players. */
function valuesOf(id: TieBreakId, of: History): readonly number[] {
  const { compute } = TIE_BREAKS[id];
  if (compute.from !== "player") throw new Error(`${id} is not computed for each player`);
  return [...of.players.values()].map((player) => compute.value(player, of));
}

const swiss = tournament(PUBLISHED_SWISS, true);
const roundRobin = tournament(ROUND_ROBIN, false);

describe("the published answers for a Swiss tournament with byes, forfeits and absent players", () => {
  test.each<[TieBreakId, readonly number[]]>([
    ["buchholz", [12.5, 13, 15.5, 15, 8.5, 12, 14.5, 13.5, 9, 13, 13.5, 11.5, 14, 11, 12, 12.5]],
    ["buchholz-cut-1", [11, 12, 13, 11.5, 7.5, 11, 12.5, 12, 7.5, 11.5, 12, 9.5, 12, 9, 11, 11]],
    ["sonneborn-berger", [8, 9.5, 10.5, 9.75, 4.25, 6.5, 3.25, 5.25, 2.25, 1.5, 5.75, 4, 4.25, 4.5, 3.5, 7.25]],
    ["progressive", [11, 13, 11, 11.5, 5, 6, 6, 8.5, 2.5, 4, 5.5, 7, 7, 6, 7, 10.5]],
    ["second-role-matches", [2, 3, 2, 2, 2, 2, 3, 2, 1, 3, 2, 0, 3, 2, 3, 2]],
  ])("are the values of %s", (id, expected) => {
    expect(valuesOf(id, swiss)).toEqual(expected);
  });

  test("leave the direct encounter of 1, 3, 4 and 16, and of 5, 8 and 11 undecided", () => {
    expect(TIE_BREAKS["head-to-head"].compute.values(["1", "3", "4", "16"], swiss)).toEqual([null, null, null, null]);
    expect(TIE_BREAKS["head-to-head"].compute.values(["5", "8", "11"], swiss)).toEqual([null, null, null]);
  });
});

describe("the published answers for a round robin with a forfeit", () => {
  test("are the values of Sonneborn-Berger, without an adjustment", () => {
    expect(valuesOf("sonneborn-berger", roundRobin)).toEqual([9.25, 6.25, 6.25, 4.25, 3.25, 2.25]);
  });

  test("are the direct encounters, in which a forfeit counts", () => {
    const values = (tied: readonly string[]) => TIE_BREAKS["head-to-head"].compute.values(tied, roundRobin);
    // Published ranks: 1, 2, 2 and 6, 5, 4.
    expect(values(["1", "2", "3"])).toEqual([2, 0.5, 0.5]);
    expect(values(["4", "5", "6"])).toEqual([0.5, 1, 1.5]);
  });
});

describe("the published standings of a tournament with 3 points for a win", () => {
  const share: Readonly<Record<string, number>> = { "1": 1, "=": 0.5, "0": 0 };
  const points: Readonly<Record<string, number>> = { "1": 3, "=": 1, "0": 0 };
  const entries = LIPPSTADT.map(([name, row]) => {
    const games = [...row].flatMap((cell, column): readonly HistoryEntry[] =>
      cell === "." || cell === "*"
        ? []
        : [
            {
              roundId: 1,
              points: points[cell] as number,
              share: share[cell] as number,
              seat: 0,
              opponents: [LIPPSTADT[column]?.[0] as string],
              isPlayed: true,
              isVoluntary: false,
            },
          ],
    );
    return [name, games] as const;
  });
  const lippstadt = history(new Map(entries), [1], false);

  test("have the same points", () => {
    const sums = [...lippstadt.players.values()].map((player) => player.points);
    expect(sums).toEqual([18, 14, 14, 12, 11, 10, 9, 9, 9, 7, 4, 3]);
  });

  test("have the same Sonneborn-Berger, from the points 3, 1 and 0 and the results 1, a half and 0", () => {
    const published = [57.5, 47.5, 46.5, 42.5, 39.5, 25.5, 47, 29.5, 23.5, 20, 12.5];
    expect(valuesOf("sonneborn-berger", lippstadt).slice(0, 11)).toEqual(published);
  });
});
