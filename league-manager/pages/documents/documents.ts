import type { DocumentKind } from "./document.ts";
import { overview } from "./overview.ts";
import { player } from "./player.ts";
import { standings } from "./standings.ts";

/** The documents of a league, one for each page. */
export const DOCUMENTS: readonly DocumentKind[] = [overview, standings, player];
