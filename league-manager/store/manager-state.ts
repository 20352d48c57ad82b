import { invariant } from "#shared/lib/result.ts";
import type { Agent, Profile } from "../agents/agent.ts";
import { evolveAgent } from "../agents/evolve.ts";
import { evolveLeague } from "../league/evolve.ts";
import type { League } from "../league/league.ts";
import type { CommittedEvent, ManagerState, Write } from "../ledger.ts";

/** The profile of an agent after it is erased. Its id takes the place of its name. */
export const erased = (agentId: string): Profile => ({ name: agentId, salt: "", endpoint: "", tokenHash: "" });

/** Changed leagues and agents by id. A forgotten agent is null. */
interface Changes {
  readonly leagues: Map<string, League>;
  readonly agents: Map<string, Agent | null>;
}

/**
 * Returns the state after the events and writes of one decision. Throws if an event cannot follow. A written profile becomes that of its agent even
 * if the agent has no event. `leagueIds` are the leagues of the config, in its order.
 */
export function evolveState(
  state: ManagerState,
  { events, writes }: { readonly events: readonly CommittedEvent[]; readonly writes: readonly Write[] },
  leagueIds: readonly string[],
): ManagerState {
  const unknown = events.find((committed) => committed.kind === "league" && !leagueIds.includes(committed.leagueId));
  invariant(!unknown, "an event belongs to a league of the config");
  const changes: Changes = { leagues: new Map(), agents: new Map() };
  const profiles = profilesOf(writes);
  let { lastForgotten } = state;
  const agentOf = (id: string): Agent | null =>
    changes.agents.get(id) ?? (changes.agents.has(id) ? null : (state.agents.get(id) ?? null));
  for (const committed of events) {
    if (committed.kind === "league") {
      const league = changes.leagues.get(committed.leagueId) ?? state.leagues.get(committed.leagueId) ?? null;
      changes.leagues.set(committed.leagueId, evolveLeague(league, committed.event));
      continue;
    }
    const agent = agentOf(committed.agentId);
    const next = evolveAgent(
      agent,
      committed.event,
      profiles.get(committed.agentId) ?? agent ?? erased(committed.agentId),
      committed.version,
    );
    changes.agents.set(committed.agentId, next);
    if (agent && !next) lastForgotten = withForgotten(lastForgotten, agent);
  }
  for (const [id, profile] of profiles) {
    const agent = agentOf(id);
    if (agent) changes.agents.set(id, { ...agent, ...profile });
  }
  return {
    leagues: changes.leagues.size > 0 ? merged(state.leagues, changes.leagues, leagueIds) : state.leagues,
    agents: changes.agents.size > 0 ? merged(state.agents, changes.agents) : state.agents,
    lastForgotten,
    formerLeagues: state.formerLeagues,
  };
}

/** The profiles after writes, by agent id. */
function profilesOf(writes: readonly Write[]): ReadonlyMap<string, Profile> {
  const profiles = new Map<string, Profile>();
  for (const write of writes) {
    if (write.type === "profile") {
      const { name, salt, endpoint, tokenHash } = write.profile;
      profiles.set(write.agentId, { name, salt, endpoint, tokenHash });
    }
    if (write.type === "erase_profile") profiles.set(write.agentId, erased(write.agentId));
  }
  return profiles;
}

/** Raises the highest number of a forgotten agent's id if necessary. */
export const withForgotten = (
  last: ManagerState["lastForgotten"],
  { id, kind }: Pick<Agent, "id" | "kind">,
): ManagerState["lastForgotten"] => ({ ...last, [kind]: Math.max(last[kind], numberOf(id)) });

const numberOf = (id: string): number => Number(/\d+$/.exec(id)?.[0] ?? 0);

/** A copy of a map with changed values; null removes a key. If keys are added, `order` lists the keys of the result in their order. */
function merged<T>(
  map: ReadonlyMap<string, T>,
  changes: ReadonlyMap<string, T | null>,
  order?: readonly string[],
): ReadonlyMap<string, T> {
  const next = new Map(map);
  for (const [key, value] of changes) {
    if (value === null) next.delete(key);
    else next.set(key, value);
  }
  return order && next.size > map.size ? inOrder(next, order) : next;
}

/** A copy of a map with only the keys of a list, in its order. */
export const inOrder = <T>(map: ReadonlyMap<string, T>, order: readonly string[]): ReadonlyMap<string, T> =>
  new Map(order.flatMap((key) => (map.has(key) ? [[key, map.get(key) as T] as const] : [])));
