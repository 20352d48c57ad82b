import type { League } from "../league/league.ts";
import { isPresent } from "./entries.ts";
import type { Place } from "./places.ts";
import type { ManagerState } from "./state.ts";

/** When an open league starts. */
export interface StartRule {
  /** The places that the config keeps. */
  readonly places: readonly Place[];
  /**
   * `roster`: a league starts when every kept place is taken. `count`: when as many players have entered as its `min_players` says, or as the
   * config has players.
   */
  readonly startWhen: "roster" | "count";
  /** `min_players` of the leagues that set it. */
  readonly minPlayers: ReadonlyMap<string, number>;
}

/** What an open league waits for. */
export interface Awaited {
  /** How many players of the league can be reached. */
  readonly present: number;
  /** How many it waits for. */
  readonly needed: number;
  /** The names of the config's players that have not come. */
  readonly missing: readonly string[];
  readonly isWithoutReferee: boolean;
}

/** The players of a league that can be reached: one that has lost its endpoint to another program does not count. */
export const reachable = (state: ManagerState, { entrants }: Pick<League, "entrants">): number =>
  [...entrants.keys()].filter((id) => isPresent(state, id)).length;

/** The players of the config that have not come. */
export const missingPlayers = (state: ManagerState, places: readonly Place[]): readonly Place[] =>
  places.filter(({ id, kind }) => kind === "player" && !isPresent(state, id));

/** How many players start a league; 0 if its operator does. */
export function playersNeeded(
  { places, startWhen, minPlayers }: StartRule,
  { leagueId }: Pick<League, "leagueId">,
): number {
  const ofConfig = places.filter(({ kind }) => kind === "player").length;
  return startWhen === "count" ? (minPlayers.get(leagueId) ?? ofConfig) : ofConfig;
}

export const hasReferee = ({ agents }: ManagerState): boolean =>
  [...agents.values()].some(({ kind }) => kind === "referee");

/** What a league waits for; null if it has started, or if its operator starts it. */
export function awaitedBy(state: ManagerState, rule: StartRule, league: League): Awaited | null {
  const needed = playersNeeded(rule, league);
  if (league.status !== "open" || needed === 0) return null;
  return {
    ...{ needed, present: reachable(state, league), isWithoutReferee: !hasReferee(state) },
    missing: missingPlayers(state, rule.places).map(({ name }) => name ?? ""),
  };
}
