import type { MatchRelay } from "./relay.ts";
import type { StoredMatches } from "./stored-match.ts";

/** The matches that pages show: those that are being played, from their referees, and the completed ones, from their logs. */
export interface Matches {
  readonly relay: Pick<MatchRelay, "watch" | "read">;
  readonly stored: Pick<StoredMatches, "find" | "replay">;
}
