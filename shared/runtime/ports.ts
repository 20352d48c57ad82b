/** The ports on which each type of agent listens by default; both ends included. */
export const PORT_RANGES = { manager: [8000, 8000], referee: [8001, 8099], player: [8101, 8199] } as const;

/** Every port of a range, in the order to be tried. */
export const portsFrom = ([first, last]: readonly [number, number]): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
