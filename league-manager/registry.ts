import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import { compareIds, isToken, newToken, playerId, refereeId } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { type AgentEvent, type AgentState, MAX_FAILS, transition } from "#shared/protocol/lifecycle.ts";
import { type AllowedContacts, mayContact, parseEndpoint, sameEndpoint } from "#shared/rpc/addresses.ts";
import { type Agent, type AgentKind, agentOf, newAgent, type Registration, rowOf } from "./agents.ts";
import type { AgentRow, ManagerStore } from "./tables.ts";

/** A place that the config keeps: the agent that registers under this name, or at this endpoint, gets this id. */
export interface Place {
  readonly id: string;
  readonly kind: AgentKind;
  /** null: any name, the endpoint tells. */
  readonly name: string | null;
  /** null: any endpoint, the name tells. */
  readonly endpoint: string | null;
  /** Of an agent that the run starts itself: where it listens and who may come, so that nobody comes in its place. */
  readonly own: { readonly endpoint: string; readonly tokenHash: string } | null;
}

export interface Registered {
  readonly agent: Agent;
  readonly token: string;
  readonly isNew: boolean;
}

export interface AgentRegistry {
  /** Registers an agent, or gives one that comes back with its token its old id; L001 and L003 refuse. A new agent may bring its token. */
  register(
    registration: Registration,
    leaguesFor: (agent: Agent) => Result<readonly string[], ProtocolError>,
  ): Promise<Result<Registered & { readonly leagueIds: readonly string[] }, ProtocolError>>;
  /** The agent that a token belongs to. */
  authenticate(token: string | null): Agent | null;
  get(id: string): Agent | undefined;
  /** Every agent of a kind, in the order of their ids, whoever registered first. */
  all(kind: AgentKind): readonly Agent[];
  /**
   * Moves an agent along the diagram where it has an arrow. This and the next two change the agent at once, and resolve when
   * that is on disk.
   */
  move(agent: Agent, event: AgentEvent): Promise<void>;
  /**
   * Removes a player that is in no league or a referee without a match. Its name and endpoint are free again. Its id is given again
   * only to the agent for which the config keeps it.
   */
  forget(agent: Agent): Promise<void>;
  /** A player whose leagues are over, and who has entered another: what it was is past. */
  renew(agent: Agent): Promise<void>;
  /** Replaces a player's lost token; L001 for a player that the run starts, because the run keeps its token. */
  resetToken(agent: Agent): Promise<Result<string, ProtocolError>>;
  /** A match lost by TIMEOUT suspends, the third in a row shuts down. */
  countTimeout(agent: Agent): Promise<void>;
  /** A match finished without one: recovered, and the count begins anew. */
  countGood(agent: Agent): Promise<void>;
}

export interface RegistryOptions {
  /** Called after an agent's lifecycle state has changed. */
  readonly onState: (agent: Agent, was: AgentState) => void;
  readonly store: ManagerStore;
  readonly places: readonly Place[];
  /** Whether others must leave the ids of places alone. */
  readonly keepPlaces: boolean;
  readonly rows: readonly AgentRow[];
  readonly allowedContacts: AllowedContacts;
  /** What no agent may have as its token: it would be told to whoever registers with it. */
  readonly operatorToken: string;
  /** Whether another program, or none, answers at a registered player's endpoint. */
  readonly hasLeft: (player: Agent) => Promise<boolean>;
  /** The values that the registry has stored besides its rows. */
  readonly meta: ReadonlyMap<string, string>;
}

/** The key of the highest number among the forgotten ids of a kind. New ids have higher numbers. */
const lastForgottenKey = (kind: AgentKind): string => `last_forgotten_${kind}`;
const ordinalOf = (id: string): number => Number(/\d+$/.exec(id)?.[0] ?? 0);

export function createRegistry(options: RegistryOptions): AgentRegistry {
  const { store, places, rows, allowedContacts, operatorToken } = options;
  const agents = new Map<string, Agent>(rows.map((row) => [row.agent_id, agentOf(row)]));
  const byTokenHash = new Map<string, Agent>([...agents.values()].map((agent) => [agent.tokenHash, agent]));

  const authenticate = (token: string | null): Agent | null => {
    if (!token) return null;
    const hash = sha256Hex(token);
    const agent = byTokenHash.get(hash);
    return agent && equalSecrets(agent.tokenHash, hash) ? agent : null;
  };

  const lastForgotten: Record<AgentKind, number> = {
    player: Number(options.meta.get(lastForgottenKey("player")) ?? 0),
    referee: Number(options.meta.get(lastForgottenKey("referee")) ?? 0),
  };

  const freeId = (registration: Registration): string => {
    const { kind, name, endpoint } = registration;
    const place = places.find((one) => one.kind === kind && holds(one, name, endpoint) && !agents.has(one.id));
    if (place) return place.id;
    const idOf = kind === "player" ? playerId : refereeId;
    const isKept = (id: string): boolean => options.keepPlaces && places.some((one) => one.id === id);
    let ordinal = lastForgotten[kind] + 1;
    while (agents.has(idOf(ordinal)) || isKept(idOf(ordinal))) ordinal++;
    return idOf(ordinal);
  };

  const save = (agent: Agent, leagueIds: readonly string[] = []): Promise<void> =>
    store.saveAgent(rowOf(agent), leagueIds);

  const step = (agent: Agent, event: AgentEvent): void => {
    const next = transition(agent.state, event);
    if (next.ok) agent.state = next.value;
  };
  /** Reports a change of state once, also when it takes several steps; false when the state is the same. */
  const change = (agent: Agent, act: () => void): boolean => {
    const was = agent.state;
    act();
    if (agent.state === was) return false;
    options.onState(agent, was);
    return true;
  };
  const keepState = (agent: Agent): Promise<void> => store.setAgentState(agent.id, agent.state, agent.fails);

  /** `left` are players at the same endpoint that do not answer there. They lose it only if the new agent is accepted. */
  const registerWithout = async (
    left: readonly Agent[],
    ...[registration, leaguesFor]: Parameters<AgentRegistry["register"]>
  ): ReturnType<AgentRegistry["register"]> => {
    const { kind, name, endpoint } = registration;
    const url = parseEndpoint(endpoint);
    if (!url) return err(protocolError("L001", "contact_endpoint is not an http URL", { endpoint }));
    if (!mayContact(url, registration.remoteAddress, allowedContacts)) {
      const why = `contact_endpoint must be at the address you register from (${registration.remoteAddress}) or allowed by the config`;
      return err(protocolError("L001", why, { endpoint }));
    }
    const tokenHash = sha256Hex(registration.token ?? "");
    const kept = places.find(
      ({ own, ...place }) =>
        place.kind === kind && own && (place.name === name || sameEndpoint(own.endpoint, endpoint)),
    );
    if (kept?.own && !equalSecrets(kept.own.tokenHash, tokenHash)) {
      const why = `${kept.name === name ? `the name ${name}` : `the endpoint ${endpoint}`} is kept for an agent of this run`;
      return err(protocolError("L003", why, { display_name: name, endpoint }));
    }
    const known = authenticate(registration.token);
    const alike = [...agents.values()].filter(
      (one) => one.kind === kind && !left.includes(one) && (one.name === name || sameEndpoint(one.endpoint, endpoint)),
    );
    const other = alike.find((one) => one !== known);
    // The old player may have stopped and freed its port. An endpoint that the config lists is given to no other player.
    const isListed = places.some(({ id, endpoint: listed }) => id === other?.id && listed !== null);
    if (other && other.name !== name && kind === "player" && !isListed && (await options.hasLeft(other))) {
      return registerWithout([...left, other], registration, leaguesFor);
    }
    if (other) {
      const taken = other.name === name ? `the name ${name}` : `the endpoint ${endpoint}`;
      const why = `${taken} is registered already: take another, or send its token to come back (the operator can reset a lost token)`;
      return err(protocolError("L003", why, { display_name: name, endpoint }));
    }
    const returns = known && alike.includes(known) ? known : null;
    const agent = returns ?? newAgent(freeId(registration), registration);
    const leagues = leaguesFor(agent);
    if (!leagues.ok) return leagues;
    const brought = registration.token ?? "";
    // An agent that never receives the answer, because it or this manager is killed, can come back with the token that it chose.
    const isFree = known === null && isToken(brought) && !equalSecrets(brought, operatorToken);
    const token = returns || isFree ? brought : newToken();
    const freed = left.filter((one) => sameEndpoint(one.endpoint, endpoint));
    for (const one of freed) one.endpoint = "";
    // In memory first, so that a second request for the same name or place finds it taken while the first is written.
    Object.assign(agent, {
      endpoint,
      gameTypes: registration.gameTypes,
      wantsLegalActions: registration.wantsLegalActions,
      wantsRoundResults: registration.wantsRoundResults,
      takesBatches: registration.takesBatches,
      maxConcurrent: registration.maxConcurrent,
      tokenHash: sha256Hex(token),
    });
    agents.set(agent.id, agent);
    byTokenHash.set(agent.tokenHash, agent);
    try {
      for (const one of freed) await save(one);
      await save(agent, leagues.value);
    } catch (thrown) {
      if (!returns) {
        agents.delete(agent.id);
        byTokenHash.delete(agent.tokenHash);
      }
      throw thrown;
    }
    return ok({ agent, token, isNew: !returns, leagueIds: leagues.value });
  };

  return {
    register: (registration, leaguesFor) => registerWithout([], registration, leaguesFor),
    authenticate,
    get: (id) => agents.get(id),
    all: (kind) => [...agents.values()].filter((agent) => agent.kind === kind).sort((a, b) => compareIds(a.id, b.id)),
    async move(agent, event) {
      if (change(agent, () => step(agent, event))) await keepState(agent);
    },
    async forget(agent) {
      agents.delete(agent.id);
      byTokenHash.delete(agent.tokenHash);
      lastForgotten[agent.kind] = Math.max(lastForgotten[agent.kind], ordinalOf(agent.id));
      await store.setMeta(lastForgottenKey(agent.kind), String(lastForgotten[agent.kind]));
      await store.deleteAgent(agent.id);
    },
    async renew(agent) {
      change(agent, () => {
        agent.state = "REGISTERED";
        agent.fails = 0;
      });
      await keepState(agent);
    },
    async resetToken(agent) {
      if (places.some(({ id, own }) => own && id === agent.id)) {
        const why = `${agent.id} is started by this run, which keeps its token`;
        return err(protocolError("L001", why, { player_id: agent.id }));
      }
      const token = newToken();
      byTokenHash.delete(agent.tokenHash);
      agent.tokenHash = sha256Hex(token);
      byTokenHash.set(agent.tokenHash, agent);
      await save(agent);
      return ok(token);
    },
    async countTimeout(agent) {
      change(agent, () => {
        agent.fails++;
        step(agent, "timeout");
        if (agent.fails >= MAX_FAILS) step(agent, "max_fails");
      });
      await keepState(agent);
    },
    async countGood(agent) {
      if (agent.fails === 0 && agent.state !== "SUSPENDED") return;
      change(agent, () => {
        agent.fails = 0;
        step(agent, "recover");
      });
      await keepState(agent);
    },
  };
}

/** Whether an agent may take a kept place: every part that the place names must be its own. */
const holds = (place: Place, name: string, endpoint: string): boolean =>
  (place.name === null || place.name === name) && (place.endpoint === null || sameEndpoint(place.endpoint, endpoint));
