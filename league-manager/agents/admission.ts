import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import { compareIds, isToken } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import {
  type EndpointParts,
  endpointKey,
  endpointKeyOf,
  endpointParts,
  type MachineAddresses,
  mayContact,
  parseEndpoint,
} from "#shared/protocol/addresses.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { Agent, AgentKind, Capabilities, Profile } from "./agent.ts";
import { isChange } from "./decide.ts";
import { entriesFor, isInSomeLeague } from "./entries.ts";
import { hasListedEndpoint, keptForOwn, newIdFor } from "./places.ts";
import type { AdmissionPolicy } from "./policy.ts";
import { placeForReferee } from "./referee-places.ts";
import type { ManagerState } from "./state.ts";

/** A registration as it came in, with the random values that it may need. */
export interface Attempt {
  readonly name: string;
  readonly endpoint: string;
  readonly capabilities: Capabilities;
  readonly joinCode: string | null;
  /** The token of an agent that registers again, or the one that a new agent proposes. */
  readonly token: string | null;
  readonly remoteAddress: string;
  /** The addresses of the manager's machine at this time. */
  readonly machineAddresses: MachineAddresses;
  /** The time of the attempt, ISO 8601. */
  readonly at: string;
  readonly newToken: string;
  readonly salt: string;
}
interface PlayerAttempt extends Attempt {
  /** null: every open league of its games. */
  readonly leagueIds: readonly string[] | null;
  /** Players that do not answer at their endpoint any more. They lose it if the new player is admitted. */
  readonly left: ReadonlySet<string>;
}
interface RefereeAttempt extends Attempt {
  /** Referees that answer no health probe, the one that has been silent for longest first. */
  readonly silent: readonly string[];
}

/** An admitted agent. */
export interface Admitted {
  readonly type: "admitted";
  readonly id: string;
  /** The agent that registers again; null for a new one. */
  readonly returning: Agent | null;
  readonly profile: Profile;
  readonly token: string;
}
export interface AdmittedPlayer extends Admitted {
  /** The leagues of the player after the registration. */
  readonly leagueIds: readonly string[];
  /** Players whose endpoint it gets. They leave their open leagues. */
  readonly displaced: readonly Agent[];
  /** Players without endpoint and league that are forgotten, because there are too many. */
  readonly forgotten: readonly Agent[];
}
interface AdmittedReferee extends Admitted {
  /** The silent referee that makes room; null if there is room. */
  readonly replaced: Agent | null;
}
/** The player may have left its endpoint: the caller sends a message there, and tries again with the player in `left` if it has. */
export interface Question {
  readonly type: "has_left";
  readonly player: Agent;
  /** Why the new player is rejected if that player has not left. */
  readonly taken: ProtocolError;
}

/** Registrations with a valid token pass the rate limit, and each change of an agent is an event. */
const CHANGE_EVERY_MS = 1_000;

/** The limit of an endpoint in messages to other agents. Escaped characters count as they are sent. */
const ENDPOINT_CHARACTERS = 2_000;

/** Players without an endpoint and without a league that stay registered. */
export const MOST_ABSENT = 500;

/** Decides whether a player may enter, its id, and its leagues. */
export function admitPlayer(
  state: ManagerState,
  policy: AdmissionPolicy,
  attempt: PlayerAttempt,
): Result<AdmittedPlayer | Question, ProtocolError> {
  const identified = identify(state, policy, "player", attempt, attempt.left);
  if (!identified.ok || identified.value.type === "has_left") return identified as Result<Question, ProtocolError>;
  const { displaced, ...admitted } = identified.value;
  const { id } = admitted;
  const leagueIds = entriesFor(state, policy, { ...attempt, ...admitted, displaced });
  if (!leagueIds.ok) return leagueIds;
  return ok({ ...admitted, leagueIds: leagueIds.value, displaced, forgotten: tooManyAbsent(state, id, displaced) });
}

/** Decides whether a referee may enter, its id, and which referee it replaces. */
export function admitReferee(
  state: ManagerState,
  policy: AdmissionPolicy,
  attempt: RefereeAttempt,
): Result<AdmittedReferee, ProtocolError> {
  const identified = identify(state, policy, "referee", attempt, new Set());
  if (!identified.ok) return identified;
  if (identified.value.type === "has_left") throw new Error("has_left is a question about players only");
  const { displaced: _, ...admitted } = identified.value;
  const replaced = placeForReferee(state, policy, { ...attempt, ...admitted });
  return replaced.ok ? ok({ ...admitted, replaced: replaced.value }) : replaced;
}

type Identified = Admitted & { readonly displaced: readonly Agent[] };

/** The agent that a registration is for, found by its name, endpoint and token: a registered agent or a new one. */
function identify(
  state: ManagerState,
  policy: AdmissionPolicy,
  kind: AgentKind,
  attempt: Attempt,
  left: ReadonlySet<string>,
): Result<Identified | Question, ProtocolError> {
  const { name, endpoint, machineAddresses } = attempt;
  const tokenHash = sha256Hex(attempt.token ?? "");
  const agents = [...state.agents.values()];
  const known = (attempt.token && agents.find((one) => one.tokenHash === tokenHash)) || null;
  const fault = faultOf(policy, attempt, known);
  if (fault) return err(fault);
  const key = endpointKey(endpoint, machineAddresses);
  // The text of a URL survives the store; what an agent sends may not, e.g. half of a surrogate pair.
  const href = new URL(endpoint).href;
  const kept = keptForOwn(policy.places, { kind, name, endpoint, key, machineAddresses, tokenHash });
  if (kept) return err(kept);

  const sameKind = agents.filter((one) => one.kind === kind);
  const atEndpoint = new Set(sameKind.filter((one) => keyOf(one, machineAddresses) === key));
  // A player may have stopped and freed its port. An endpoint that the config lists is given to no other player.
  const mayHaveLeft = (one: Agent): boolean =>
    kind === "player" && one !== known && one.name !== name && !hasListedEndpoint(policy.places, one.id);
  const displaced = [...atEndpoint].filter((one) => left.has(one.id) && mayHaveLeft(one));
  const alike = sameKind.filter((one) => !displaced.includes(one) && (one.name === name || atEndpoint.has(one)));
  const other = alike.find((one) => one !== known);
  if (other) {
    const taken = takenBy(other, attempt);
    return mayHaveLeft(other) ? ok({ type: "has_left", player: other, taken }) : err(taken);
  }
  const returning = known && alike.includes(known) ? known : null;
  const lastForgotten = state.lastForgotten[kind];
  const areKept = policy.startWhen === "roster";
  const id =
    returning?.id ??
    newIdFor({ kind, name, key, machineAddresses }, policy.places, areKept, state.agents, lastForgotten);
  // A new agent may choose its token: it can come back with it even if it or this manager is killed before the answer arrives.
  const brought = attempt.token ?? "";
  const isFree = known === null && isToken(brought) && tokenHash !== policy.operatorTokenHash;
  const token = returning || isFree ? brought : attempt.newToken;
  const profile = {
    name: returning?.name ?? name,
    salt: returning?.salt ?? attempt.salt,
    endpoint: href,
    tokenHash: sha256Hex(token),
  };
  const early = returning && tooEarly(returning, profile, attempt);
  return early ? err(early) : ok({ type: "admitted", id, returning, profile, token, displaced });
}

/** Why an agent may not change yet; null when it may, or when nothing changes. */
function tooEarly(agent: Agent, profile: Profile, { capabilities, at }: Attempt): ProtocolError | null {
  if (agent.returnedAt === null || !isChange(agent, { capabilities, profile })) return null;
  if (Math.abs(Date.parse(at) - Date.parse(agent.returnedAt)) >= CHANGE_EVERY_MS) return null;
  const why = `${agent.id} has changed its registration less than a second ago: register again in a second`;
  return protocolError("L001", why, { agent_id: agent.id }, true);
}

/** The `endpointKey` of an agent. Its URL is parsed once for each state of the agent: a registration is compared with every agent. */
function keyOf(agent: Agent, machineAddresses: MachineAddresses): string {
  const parts = parsed.get(agent) ?? endpointParts(agent.endpoint);
  parsed.set(agent, parts);
  return endpointKeyOf(parts, machineAddresses);
}
const parsed = new WeakMap<Agent, EndpointParts>();

/** The fault of a registration that does not depend on other agents; null if there is none. */
function faultOf(policy: AdmissionPolicy, attempt: Attempt, known: Agent | null): ProtocolError | null {
  const { endpoint, remoteAddress } = attempt;
  if (policy.joinCode !== null && known === null && !equalSecrets(attempt.joinCode ?? "", policy.joinCode)) {
    return protocolError("L001", "the join code is missing or wrong: ask for it and give --join-code WORD");
  }
  const url = parseEndpoint(endpoint);
  if (!url) return protocolError("L001", "contact_endpoint is not an http URL", { endpoint });
  if (url.href.length > ENDPOINT_CHARACTERS) {
    return protocolError("L001", `contact_endpoint is longer than ${ENDPOINT_CHARACTERS} characters as a URL`, {
      endpoint,
    });
  }
  if (mayContact(url, remoteAddress, policy.allowedContacts)) return null;
  const why = `contact_endpoint must be at the address you register from (${remoteAddress}) or allowed by the config`;
  return protocolError("L001", why, { endpoint });
}

function takenBy(other: Agent, { name, endpoint }: Attempt): ProtocolError {
  const taken = other.name === name ? `the name ${name}` : `the endpoint ${endpoint}`;
  const why = `${taken} is registered already: take another, or send its token to come back (the operator can reset a lost token)`;
  return protocolError("L003", why, { display_name: name, endpoint });
}

/**
 * Absent players beyond the limit once `present` is registered, those with the lowest ids first. Without the limit, one endpoint could be
 * registered under endless names.
 */
function tooManyAbsent(state: ManagerState, present: string, displaced: readonly Agent[]): readonly Agent[] {
  if (displaced.length === 0) return [];
  const absent = [...state.agents.values()].filter(
    (one) => one.kind === "player" && one.id !== present && one.endpoint === "" && !isInSomeLeague(state, one.id),
  );
  const excess = absent.length + displaced.length - MOST_ABSENT;
  return excess <= 0 ? [] : absent.sort((a, b) => compareIds(a.id, b.id)).slice(0, excess);
}
