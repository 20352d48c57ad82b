import { classroom } from "./classroom.ts";
import type { Dialect, DialectId } from "./dialect.ts";
import { leagueV1 } from "./league-v1.ts";

/** All dialects besides the native one. */
export const dialects: Readonly<Record<DialectId, Dialect>> = { "league.v1": leagueV1, classroom };
