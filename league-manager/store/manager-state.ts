import { invariant, messageOf } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import type { RecordedEvent } from "#shared/store/event-log.ts";
import { UnusableEvent } from "#shared/store/store-errors.ts";
import { type Agent, agentStream, evolveAgent, type Profile, parseAgentEvent } from "../agents/registered-agent.ts";
import { leagueStream, parseLeagueEvent } from "../league/events.ts";
import { evolveLeague } from "../league/evolve.ts";
import type { League } from "../league/league.ts";
import { restoreLeague } from "../league/snapshot.ts";
import type { CommittedEvent, ManagerState, Write } from "../ledger.ts";
import type { ManagerStore } from "./manager-store.ts";

/** The profile of an agent after it is erased. Its id takes the place of its name. */
const erased = (agentId: string): Profile => ({ name: agentId, salt: "", endpoint: "", tokenHash: "" });

/** Whether a manager loads a league: one of its config, or one that was opened like one of its config. `leagueIds` are the leagues of the config. */
export const isLoaded = (
  { leagueId, like }: Pick<League, "leagueId" | "like">,
  leagueIds: readonly string[],
): boolean => leagueIds.includes(leagueId) || (like !== null && leagueIds.includes(like));

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
  const changes: Changes = { leagues: new Map(), agents: new Map() };
  const profiles = profilesOf(writes);
  let { lastForgotten } = state;
  const agentOf = (id: string): Agent | null =>
    changes.agents.get(id) ?? (changes.agents.has(id) ? null : (state.agents.get(id) ?? null));
  for (const committed of events) {
    if (committed.kind === "league") {
      const league = changes.leagues.get(committed.leagueId) ?? state.leagues.get(committed.leagueId) ?? null;
      const next = evolveLeague(league, committed.event);
      invariant(league !== null || isLoaded(next, leagueIds), "an event belongs to a league of the config");
      changes.leagues.set(committed.leagueId, next);
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
const withForgotten = (
  last: ManagerState["lastForgotten"],
  { id, kind }: Pick<Agent, "id" | "kind">,
): ManagerState["lastForgotten"] => ({ ...last, [kind]: Math.max(last[kind], numberOf(id)) });

const numberOf = (id: string): number => Number(/\d+$/.exec(id)?.[0] ?? 0);

/** A copy of a map with changed values; null removes a key. If keys are added, the keys in `order` are the first ones of the result. */
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

/** A copy of a map in which the keys of a list are the first ones, in the order of the list. */
const inOrder = <T>(map: ReadonlyMap<string, T>, order: readonly string[]): ReadonlyMap<string, T> =>
  new Map([...order.flatMap((key) => (map.has(key) ? [[key, map.get(key) as T] as const] : [])), ...map]);

/** The committed state, and the versions of streams and snapshots in the store. */
export interface Loaded {
  readonly state: ManagerState;
  /** Versions by stream, including the streams of forgotten agents. */
  readonly versions: Map<string, number>;
  /** The leagues that were restored from snapshots, by league id. */
  readonly snapshots: ReadonlyMap<string, League>;
}

type ReadStore = Pick<ManagerStore, "readEvents" | "streams" | "loadProfiles" | "readSnapshot">;

const LEAGUE_PREFIX = leagueStream("");
const AGENT_PREFIX = agentStream("");
/** The number of events that are read from a stream at once. */
const EVENTS_PER_READ = 5_000;
/** The number of streams of agents that are read at the same time. */
const STREAMS_PER_READ = 100;

/**
 * Loads the state of a store: folds the streams of all leagues, from their snapshots, and of all agents. `leagueIds` are the leagues of the config, in
 * its order. Throws `UnusableEvent`.
 */
export async function loadState(store: ReadStore, leagueIds: readonly string[]): Promise<Loaded> {
  const versions = new Map<string, number>();
  const leagues = new Map<string, League>();
  const snapshots = new Map<string, League>();
  for (const stream of await store.streams(LEAGUE_PREFIX)) {
    let league = await restore(store, stream);
    if (league) snapshots.set(league.leagueId, league);
    let version = league?.version ?? 0;
    for await (const events of eventsOf(store, stream, version)) {
      for (const { seq, body } of events) {
        league = folded(stream, seq, () => evolveLeague(league, parseLeagueEvent(body)));
        version = seq + 1;
      }
    }
    versions.set(stream, version);
    if (league) leagues.set(stream.slice(LEAGUE_PREFIX.length), league);
  }
  const profiles = await store.loadProfiles();
  const agents = new Map<string, Agent>();
  let lastForgotten: ManagerState["lastForgotten"] = { player: 0, referee: 0 };
  for await (const { stream, events } of agentEvents(store)) {
    const id = stream.slice(AGENT_PREFIX.length);
    const profile = profiles.get(id) ?? erased(id);
    let agent: Agent | null = null;
    for (const { body, seq } of events) {
      const next = folded(stream, seq, () => evolveAgent(agent, parseAgentEvent(body), profile, seq + 1));
      if (agent && !next) lastForgotten = withForgotten(lastForgotten, agent);
      agent = next;
    }
    versions.set(stream, events.length);
    if (agent) agents.set(id, agent);
  }
  const formerLeagues = [...leagues.values()]
    .filter((league) => !isLoaded(league, leagueIds))
    .map(({ leagueId, entrants, status }) => ({ leagueId, entrants, status }));
  for (const { leagueId } of formerLeagues) leagues.delete(leagueId);
  const state = { leagues: inOrder(leagues, leagueIds), agents, lastForgotten, formerLeagues };
  return { state, versions, snapshots };
}

/** Returns the result of `fold`. Converts its exceptions into `UnusableEvent`, which names the event. */
function folded<T>(stream: string, seq: number, fold: () => T): T {
  try {
    return fold();
  } catch (thrown) {
    throw new UnusableEvent(stream, seq, inOneLine(messageOf(thrown)));
  }
}

/** Reads the streams of all agents. Many are read at once, because a database on another machine answers each read after some time. */
async function* agentEvents(
  store: ReadStore,
): AsyncGenerator<{ readonly stream: string; readonly events: readonly RecordedEvent[] }> {
  const streams = await store.streams(AGENT_PREFIX);
  for (let first = 0; first < streams.length; first += STREAMS_PER_READ) {
    const group = streams.slice(first, first + STREAMS_PER_READ);
    yield* await Promise.all(group.map(async (stream) => ({ stream, events: await store.readEvents(stream) })));
  }
}

/** Reads the events of a stream after a version. They are read in parts, because a stream can be larger than the memory. */
export async function* eventsOf(
  store: Pick<ManagerStore, "readEvents">,
  stream: string,
  from: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  for (let next = from; ; next += EVENTS_PER_READ) {
    const events = await store.readEvents(stream, next, EVENTS_PER_READ);
    yield events;
    if (events.length < EVENTS_PER_READ) return;
  }
}

/** Restores a league from its snapshot. Returns null without a usable snapshot; the league is then folded from all its events. */
async function restore(store: ReadStore, stream: string): Promise<League | null> {
  const snapshot = await store.readSnapshot(stream);
  if (!snapshot) return null;
  const { version } = snapshot;
  const league = restoreLeague(snapshot);
  if (league?.version !== version || leagueStream(league.leagueId) !== stream) return null;
  const isInLog = (await store.readEvents(stream, version - 1, 1)).length > 0;
  return isInLog ? league : null;
}
