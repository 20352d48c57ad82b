import type { LeagueDocument } from "./league.ts";

/** `GET /api/leagues/{league_id}/operator`: which actions the state of the league allows. It contains nothing that only the operator may know. */
export interface OperatorDocument extends LeagueDocument {
  readonly can: {
    readonly start: boolean;
    readonly pause: boolean;
    readonly resume: boolean;
    readonly end: boolean;
    readonly add_player: boolean;
    readonly remove_player: boolean;
    readonly change_matches: boolean;
  };
  /** The options of the format that can be raised now. */
  readonly extendable: readonly {
    readonly option: string;
    readonly text: string;
    readonly value: number;
    /** The number of matches that the league gets when the value is raised by one; null if it is not known. */
    readonly matches_each: number | null;
  }[];
  /** The roles of the game in words, one for each player of a match. */
  readonly roles: readonly string[];
}
