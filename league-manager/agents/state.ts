import type { League } from "../league/league.ts";
import type { Agent } from "./agent.ts";

/** The state that the manager's commands depend on: the folds of all its streams. Never changed in place. */
export interface ManagerState {
  /** The leagues by id, in the order of the config. */
  readonly leagues: ReadonlyMap<string, League>;
  /** The registered agents by id, without forgotten ones. */
  readonly agents: ReadonlyMap<string, Agent>;
  /** The highest number among the ids of forgotten agents, by kind: new ids have higher numbers, so that no id is used twice. */
  readonly lastForgotten: Readonly<Record<Agent["kind"], number>>;
  /**
   * Leagues of the log that the config does not list. Their players stay registered, because the log names them. An unfinished league continues when
   * the config lists it again.
   */
  readonly formerLeagues: readonly Pick<League, "entrants" | "status">[];
}
