import type { Awaited } from "../agents/awaited-players.ts";
import type { League } from "../league/league.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import type { Projections } from "./projections.ts";

/** The data that the API and the pages show. */
export interface Views {
  readonly projections: Projections;
  /** Returns the players and referees that a league waits for, or null if it has started or its operator starts it. */
  readonly awaited: (league: League) => Awaited | null;
  /** The session log of a completed match; empty for a match that was not played. */
  readonly logOf: (leagueId: string, matchId: string) => Promise<readonly string[]>;
  /** The answer times of a player in completed matches as their referees measured them, by match id; without those that are not reported. */
  readonly answerTimesOf: ManagerStore["answerTimesOf"];
  /** The seed of a league, which is secret until the league is completed. */
  readonly leagueSeedOf: (leagueId: string) => string;
  /** The seed of a match under an epoch, which is secret until the match is completed. */
  readonly seedOf: (leagueId: string, matchId: string, epoch: number) => string;
}
