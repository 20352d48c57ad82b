import { bracket } from "./bracket.ts";
import { crosstable } from "./crosstable.ts";
import type { DocumentKind } from "./document.ts";
import { match } from "./match.ts";
import { operator } from "./operator.ts";
import { overview } from "./overview.ts";
import { player } from "./player.ts";
import { points } from "./points.ts";
import { ratings } from "./ratings.ts";
import { schedule } from "./schedule.ts";
import { standings } from "./standings.ts";

/** The documents of a league, one for each page. */
export const DOCUMENTS: readonly DocumentKind[] = [
  overview,
  standings,
  crosstable,
  schedule,
  bracket,
  ratings,
  points,
  player,
  match,
  operator,
];
