import { doubleElimination, singleElimination } from "./elimination.ts";
import type { Format } from "./format.ts";
import { gauntlet } from "./gauntlet.ts";
import { ladder } from "./ladder.ts";
import { matchFormat } from "./match-format.ts";
import { roundRobinFormat } from "./round-robin.ts";
import { sprt } from "./sprt-format.ts";
import { swiss } from "./swiss.ts";

/** The formats. A new one is one file and one line here; the contract test then includes it. */
export const FORMATS: readonly Format[] = [
  roundRobinFormat,
  swiss,
  singleElimination,
  doubleElimination,
  matchFormat,
  gauntlet,
  ladder,
  sprt,
];

/** The ids of all formats: the values of `format` in configs. */
export const formatIds: readonly string[] = FORMATS.map(({ id }) => id);

/** The format of an id, or null if there is none. */
export const findFormat = (id: string): Format | null => FORMATS.find((format) => format.id === id) ?? null;
