import type { Request } from "express";
import { originOf, reachableFrom, type SiteServers } from "#shared/web/site-links.ts";
import type { Agent } from "../agents/registered-agent.ts";

/** Where people play games outside of the leagues. */
export interface GamePages {
  /** The origins of the pages of referees. */
  readonly gamesAt: () => readonly string[];
}

/** Returns the servers to which the pages of the manager link, for the reader of a request. */
export const serversFor = ({ gamesAt }: GamePages, { hostname }: Pick<Request, "hostname">): SiteServers => ({
  leagues: "",
  games: reachableFrom(hostname, gamesAt()),
});

/** Returns the origins of the pages of all referees that answer, in the order of their ids. `silent` are the ids of referees that do not answer. */
export const pagesOfReferees = (agents: ReadonlyMap<string, Agent>, silent: readonly string[]): readonly string[] =>
  [...agents.values()]
    .filter(({ id, kind, hasPages, isRemoved }) => kind === "referee" && hasPages && !isRemoved && !silent.includes(id))
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ endpoint }) => originOf(endpoint));
