interface BergerRound {
  readonly pairings: readonly (readonly [string, string])[];
  readonly byes: readonly string[];
}

/** With an odd number of players the highest number of the tables is vacant, as in the FIDE tables. Its opponent has the bye. */
const DUMMY = null;

/**
 * The Berger tables (FIDE Handbook C.05, Annex 1). The first-named player has the first role. With an odd number of players each has both roles
 * equally often; with an even number the two counts differ by one.
 */
export function bergerRounds(playerIds: readonly string[]): readonly BergerRound[] {
  const seats: (string | null)[] = playerIds.length % 2 === 0 ? [...playerIds] : [...playerIds, DUMMY];
  return Array.from({ length: seats.length - 1 }, (_, index) => {
    const pairs = bergerRound(seats, index);
    return {
      pairings: pairs.filter((pair): pair is readonly [string, string] => !pair.includes(DUMMY)),
      byes: pairs.filter((pair) => pair.includes(DUMMY)).flatMap((pair) => pair.filter((player) => player !== DUMMY)),
    };
  });
}

type Table = readonly [first: string | null, second: string | null];

/**
 * One round of the Berger tables, with the pairs in published order. The last seat keeps its place and changes its role every round. The other seats
 * form a circle that turns by half of its size each round, and opposite seats are paired.
 */
function bergerRound(seats: readonly (string | null)[], index: number): readonly Table[] {
  const circle = seats.length - 1;
  const top = (index * (seats.length / 2)) % circle;
  const seat = (place: number): string | null => seats[(place + circle) % circle] as string | null;
  const last = seats[circle] as string | null;
  const across = Array.from({ length: seats.length / 2 - 1 }, (_, k): Table => [seat(top + k + 1), seat(top - k - 1)]);
  return [index % 2 === 0 ? [seat(top), last] : [last, seat(top)], ...across];
}
