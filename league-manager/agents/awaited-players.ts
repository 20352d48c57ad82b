import { configIdOf, type League } from "../league/league.ts";
import { isPresent } from "./admission.ts";
import type { Place } from "./places.ts";
import type { ManagerState } from "./registered-agent.ts";

/** The condition for the start of an open league. */
export interface StartRule {
  /** The places that the config reserves. */
  readonly places: readonly Place[];
  /**
   * `roster`: a league starts when the agents of all reserved places are registered. `count`: a league starts when the number of its players reaches
   * its `min_players`, or the number of players in the config if it has none.
   */
  readonly startWhen: "roster" | "count";
  /** `min_players` of the leagues of the config that set it. */
  readonly minPlayers: ReadonlyMap<string, number>;
}

/** The players and referees that an open league waits for. */
export interface Awaited {
  /** The number of players of the league that can be reached. */
  readonly present: number;
  /** The number of players at which the league starts. */
  readonly needed: number;
  /** The names of the config's players that cannot be reached. */
  readonly missing: readonly string[];
  readonly isWithoutReferee: boolean;
}

/** The number of players of a league that can be reached. A player that has lost its endpoint to another program does not count. */
export const reachableCount = (state: ManagerState, { entrants }: Pick<League, "entrants">): number =>
  [...entrants.keys()].filter((id) => isPresent(state, id)).length;

/** The places of the config's players that cannot be reached. */
export const missingPlayers = (state: ManagerState, places: readonly Place[]): readonly Place[] =>
  places.filter(({ id, kind }) => kind === "player" && !isPresent(state, id));

/** The number of players at which a league starts; 0 if its operator starts it. */
export function playersNeeded(
  { places, startWhen, minPlayers }: StartRule,
  league: Pick<League, "leagueId" | "like">,
): number {
  const configPlayers = places.filter(({ kind }) => kind === "player").length;
  return startWhen === "count" ? (minPlayers.get(configIdOf(league)) ?? configPlayers) : configPlayers;
}

export const hasReferee = ({ agents }: ManagerState): boolean =>
  [...agents.values()].some(({ kind }) => kind === "referee");

/** Returns the players and referees that a league waits for, or null if it has started or its operator starts it. */
export function awaitedBy(state: ManagerState, rule: StartRule, league: League): Awaited | null {
  const needed = playersNeeded(rule, league);
  if (league.status !== "open" || needed === 0) return null;
  return {
    needed,
    present: reachableCount(state, league),
    isWithoutReferee: !hasReferee(state),
    missing: missingPlayers(state, rule.places).map(({ name }) => name ?? ""),
  };
}
