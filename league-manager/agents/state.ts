import type { League } from "../league/league.ts";
import type { Agent } from "./agent.ts";

/** Everything that the manager's commands depend on: the folds of all its streams. Never changed in place. */
export interface ManagerState {
  /** By league id, in the order of the config. */
  readonly leagues: ReadonlyMap<string, League>;
  /** Registered agents by id. A forgotten agent is not in it. */
  readonly agents: ReadonlyMap<string, Agent>;
  /** The highest number among the ids of forgotten agents, by kind: new ids have higher numbers, so that no id has two owners. */
  readonly lastForgotten: Readonly<Record<Agent["kind"], number>>;
  /** Players of leagues that are in the log and no longer in the config. They stay registered, because the log names them. */
  readonly formerEntrants: ReadonlySet<string>;
}
