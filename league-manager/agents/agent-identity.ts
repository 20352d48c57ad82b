import { isDeepStrictEqual } from "node:util";
import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import { isToken } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { cutTo } from "#shared/lib/text.ts";
import {
  bareHost,
  type EndpointParts,
  endpointKey,
  endpointKeyOf,
  endpointParts,
  isThisMachine,
  type MachineAddresses,
  mayContact,
  parseEndpoint,
} from "#shared/protocol/addresses.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import {
  type AdmissionPolicy,
  hasListedEndpoint,
  listedAt,
  newIdFor,
  type Place,
  reservationConflict,
} from "./places.ts";
import {
  type Agent,
  type AgentKind,
  type Capabilities,
  capabilitiesOf,
  fieldsOf,
  inboxEndpoint,
  isChange,
  type ManagerState,
  type Profile,
} from "./registered-agent.ts";

/** A registration request, with the random values that its decision may need. */
export interface Attempt {
  readonly name: string;
  /** null: the player cannot be called, and gets an inbox. */
  readonly endpoint: string | null;
  /** Whether the manager itself reads the inbox, for a person or a model. */
  readonly isHosted?: boolean | undefined;
  readonly capabilities: Capabilities;
  readonly joinCode: string | null;
  /** The token of an agent that registers again, or a token that a new agent proposes; null if the request has none. */
  readonly token: string | null;
  readonly remoteAddress: string;
  /** Whether the request comes from the address of `endpoint`. It matters for players of other dialects only. */
  readonly isFromEndpoint: boolean;
  /** Whether the config itself registers the player. */
  readonly isListing?: boolean | undefined;
  /** The addresses of the manager's machine at this time. */
  readonly machineAddresses: MachineAddresses;
  /** The time of the attempt, ISO 8601. */
  readonly at: string;
  readonly newToken: string;
  readonly salt: string;
}

/** An admitted agent. */
export interface Admitted {
  readonly type: "admitted";
  readonly id: string;
  /** The agent that registers again; null for a new one. */
  readonly returning: Agent | null;
  readonly profile: Profile;
  readonly capabilities: Capabilities;
  readonly token: string;
}

/**
 * The decision depends on whether a registered player has left its endpoint. The caller checks this. If the player has left, the caller adds its id to
 * `departed` and decides again. Otherwise it rejects the registration with `rejection` or, if that is null, adds the id to `present` and decides again.
 */
export interface PresenceCheck {
  readonly type: "presence_check";
  readonly player: Agent;
  /** The rejection of the new player if the registered player has not left. null: the registration then counts as a return that changes nothing. */
  readonly rejection: ProtocolError | null;
}

/** What the checks of this registration have shown: the ids of the players that have left their endpoints, and of those that have not. */
export interface Presence {
  readonly departed: ReadonlySet<string>;
  readonly present: ReadonlySet<string>;
}

/** The minimum time between two changes of a registration. It limits the events of one agent, because the rate limit does not apply to valid tokens. */
const MIN_CHANGE_INTERVAL_MS = 1_000;

/** Stands for the `endpointKey` of a player with an inbox. No endpoint has this key, so such a player never takes the endpoint of another one. */
const INBOX_KEY = "inbox";

/** The longest endpoint that messages to other agents can carry, with escaped characters. */
const ENDPOINT_CHARACTERS = 2_000;

/** The agent of a registration, and the players whose endpoint it gets. */
type Identified = Admitted & { readonly displaced: readonly Agent[] };

/** Finds the registered agent that a registration belongs to, by name, endpoint and token, or assigns the id of a new agent. */
export function identify(
  state: ManagerState,
  policy: AdmissionPolicy,
  kind: AgentKind,
  attempt: Attempt,
  { departed, present }: Presence,
): Result<Identified | PresenceCheck, ProtocolError> {
  const { name, endpoint, machineAddresses, isFromEndpoint } = attempt;
  const tokenHash = sha256Hex(attempt.token ?? "");
  const agents = [...state.agents.values()];
  const key = endpoint === null ? INBOX_KEY : endpointKey(endpoint, machineAddresses);
  const owner = attempt.token && agents.find((agent) => agent.tokenHash === tokenHash);
  const sameKind = agents.filter((agent) => agent.kind === kind);
  const atEndpoint = new Set(sameKind.filter((agent) => keyOf(agent, machineAddresses) === key));
  const tokenOwner = owner || dialectOwner(atEndpoint, attempt);
  const invalid =
    requestRejection(policy, attempt, tokenOwner) ??
    otherAddressRejection(attempt, atEndpoint, listedAt(policy.places, kind, key, machineAddresses));
  if (invalid) return err(invalid);
  const conflict = reservationConflict(policy.places, { kind, name, endpoint, key, machineAddresses, tokenHash });
  if (conflict) return err(conflict);

  // A player may have stopped and freed its port. An endpoint that the config lists is never given to another player, and that of a player of another
  // dialect, which has no token to return with, only to a program at its address.
  const mayHaveLeft = (agent: Agent): boolean =>
    kind === "player" &&
    agent !== tokenOwner &&
    agent.name !== name &&
    (agent.dialect === NATIVE || isFromEndpoint) &&
    !hasListedEndpoint(policy.places, agent.id);
  const displaced = [...atEndpoint].filter((agent) => departed.has(agent.id) && mayHaveLeft(agent));
  const matching = sameKind.filter(
    (agent) => !displaced.includes(agent) && (agent.name === name || atEndpoint.has(agent)),
  );
  const conflicting = matching.find((agent) => agent !== tokenOwner);
  if (conflicting) {
    const rejection = takenBy(conflicting, attempt);
    return mayHaveLeft(conflicting) ? ok({ type: "presence_check", player: conflicting, rejection }) : err(rejection);
  }
  const returning = tokenOwner && matching.includes(tokenOwner) ? tokenOwner : null;
  const isReturningByEndpoint = returning !== null && !owner;
  const mayBeOther =
    isReturningByEndpoint &&
    !attempt.isListing &&
    !departed.has(returning.id) &&
    sharesAddress(returning, policy.places, agents, machineAddresses);
  if (mayBeOther && !present.has(returning.id)) {
    const rejection = otherProgramRejection(returning, attempt, policy.places);
    const isSame = rejection === null && isDeepStrictEqual(capabilitiesOf(fieldsOf(returning)), attempt.capabilities);
    if (!isSame) return ok({ type: "presence_check", player: returning, rejection });
  }
  // The config decides how the league calls a player of another dialect that it lists, and the running program of a player decides for other players.
  const isListed = isReturningByEndpoint && hasListedEndpoint(policy.places, returning.id);
  const isFixed = (isListed && !attempt.isListing) || (mayBeOther && present.has(returning.id));
  const capabilities = isFixed && returning ? capabilitiesOf(fieldsOf(returning)) : attempt.capabilities;
  const arePlacesReserved = policy.startWhen === "roster";
  const claim = { kind, name, key, machineAddresses };
  const id =
    returning?.id ?? newIdFor(claim, policy.places, arePlacesReserved, state.agents, state.lastForgotten[kind]);
  const isNew = tokenOwner === null;
  const admitted = admittedAs(id, attempt, { returning, isReturningByEndpoint, isNew }, policy.operatorTokenHash);
  const tooEarly = returning && rateRejection(returning, admitted.profile, capabilities, attempt.at);
  return tooEarly ? err(tooEarly) : ok({ ...admitted, capabilities, displaced });
}

/** The owner of the registration. `isNew`: no registered agent has its token. */
interface Owner {
  readonly returning: Agent | null;
  readonly isReturningByEndpoint: boolean;
  readonly isNew: boolean;
}

/** Returns the profile and the token of an admitted agent. */
function admittedAs(
  id: string,
  { name, endpoint, token: given, newToken, salt, isHosted }: Attempt,
  { returning, isReturningByEndpoint, isNew }: Owner,
  operatorTokenHash: string,
): Omit<Admitted, "capabilities"> {
  // A new agent may choose its token, so that it can register again even if it or the manager is killed before the answer arrives.
  const proposedToken = given ?? "";
  const isAcceptable = isNew && isToken(proposedToken) && sha256Hex(proposedToken) !== operatorTokenHash;
  const token = returning || isAcceptable ? proposedToken : newToken;
  const profile = {
    name: returning?.name ?? name,
    salt: returning?.salt ?? salt,
    // A URL is stored in its normalized form, because SQLite cannot store every string, e.g. a lone surrogate.
    endpoint: endpoint === null ? inboxEndpoint(id, isHosted === true) : new URL(endpoint).href,
    tokenHash: isReturningByEndpoint && returning ? returning.tokenHash : sha256Hex(token),
  };
  return { type: "admitted", id, returning, profile, token };
}

/** Returns a rejection if the agent changes its registration again within `MIN_CHANGE_INTERVAL_MS`; null otherwise. */
function rateRejection(agent: Agent, profile: Profile, capabilities: Capabilities, at: string): ProtocolError | null {
  if (agent.returnedAt === null || !isChange(agent, { capabilities, profile })) return null;
  if (Math.abs(Date.parse(at) - Date.parse(agent.returnedAt)) >= MIN_CHANGE_INTERVAL_MS) return null;
  const message = `${agent.id} has changed its registration less than a second ago: register again in a second`;
  return protocolError("L001", message, { agent_id: agent.id }, true);
}

/** The `endpointKey` of an agent. Each registration is compared with every agent, so the parsed URL is cached for each state of the agent. */
function keyOf(agent: Agent, machineAddresses: MachineAddresses): string {
  const parts = partsOfAgents.get(agent) ?? endpointParts(agent.endpoint);
  partsOfAgents.set(agent, parts);
  return endpointKeyOf(parts, machineAddresses);
}
const partsOfAgents = new WeakMap<Agent, EndpointParts>();

/** The rejection that programs receive. Pages for people have another text. */
export const WRONG_JOIN_CODE =
  "the join code is missing or wrong: ask the operator for it and pass --join-code WORD (over HTTP the field join_code)";

/** Checks the join code and the endpoint, which do not depend on other agents. Returns null if both are valid. */
function requestRejection(policy: AdmissionPolicy, attempt: Attempt, tokenOwner: Agent | null): ProtocolError | null {
  const { endpoint, remoteAddress } = attempt;
  if (policy.joinCode !== null && tokenOwner === null && !equalSecrets(attempt.joinCode ?? "", policy.joinCode)) {
    return protocolError("L001", WRONG_JOIN_CODE);
  }
  if (endpoint === null) return null;
  const url = parseEndpoint(endpoint);
  if (!url) return protocolError("L001", "contact_endpoint is not an http URL", { endpoint });
  if (url.href.length > ENDPOINT_CHARACTERS) {
    return protocolError("L001", `contact_endpoint is longer than ${ENDPOINT_CHARACTERS} characters as a URL`, {
      endpoint,
    });
  }
  if (mayContact(url, remoteAddress, policy.allowedContacts)) return null;
  const message = `contact_endpoint must be at the address you register from (${remoteAddress}) or allowed by the config`;
  return protocolError("L001", message, { endpoint });
}

function takenBy(conflicting: Agent, { name, endpoint }: Attempt): ProtocolError {
  const subject = conflicting.name === name ? `the name ${name}` : `the endpoint ${endpoint}`;
  const message = `${subject} is already registered: choose another, or send its token to register again (the operator can reset a lost token)`;
  return protocolError("L003", message, { display_name: name, endpoint });
}

// Programs in other dialects do not store their token, so the endpoint identifies them, together with the address from which the registration comes.
// This is weaker than a token (docs/security.md). A native player is never identified in this way.

/** The parts of a registration that identify a player of another dialect. */
interface DialectAttempt {
  readonly name: string;
  readonly endpoint: string | null;
  readonly capabilities: Pick<Capabilities, "dialect">;
  /** Whether the request comes from the address of its endpoint. */
  readonly isFromEndpoint: boolean;
  readonly remoteAddress: string;
}

/** Returns the player of another dialect that registers again: the one of `atEndpoint`, if the request comes from its address. null if there is none. */
function dialectOwner(atEndpoint: ReadonlySet<Agent>, { capabilities, isFromEndpoint }: DialectAttempt): Agent | null {
  if (capabilities.dialect === NATIVE || !isFromEndpoint) return null;
  return [...atEndpoint].find(({ kind, dialect }) => kind === "player" && dialect !== NATIVE) ?? null;
}

/**
 * Returns L003 for a registration in a dialect that does not come from the address of its endpoint, if the endpoint belongs to a player of another
 * dialect or to one that the config lists. null for every other registration. `listed` are the places whose endpoint the registration names.
 */
function otherAddressRejection(
  { capabilities, endpoint, isFromEndpoint, name, remoteAddress }: DialectAttempt,
  atEndpoint: ReadonlySet<Agent>,
  listed: readonly Place[],
): ProtocolError | null {
  if (capabilities.dialect === NATIVE || isFromEndpoint) return null;
  const registered = [...atEndpoint].find(({ dialect }) => dialect !== NATIVE);
  const owner = listed[0]?.name ?? registered?.name;
  if (owner === undefined) return null;
  const message = `the endpoint ${endpoint} belongs to ${owner}, and this registration comes from another address (${remoteAddress}): register from the address of the endpoint, or ask the operator to remove ${owner}`;
  return protocolError("L003", message, { display_name: name, endpoint });
}

/**
 * Returns the rejection of a registration that names the endpoint of `player` and differs from the registration of that player. It applies if the program
 * of the player still answers. null if the name and the dialect are those of the player, so that its running program may have sent it.
 */
function otherProgramRejection(
  player: Agent,
  { name, endpoint, capabilities }: DialectAttempt,
  places: readonly Place[],
): ProtocolError | null {
  const details = { display_name: name, endpoint };
  if (hasListedEndpoint(places, player.id)) {
    const message = `a program answers at the endpoint ${endpoint}, which the config lists for ${player.name}: it takes part without a registration`;
    return protocolError("L003", message, details);
  }
  const isSameName = [name, nameWithPort(name, endpoint ?? "")].includes(player.name);
  if (isSameName && dialectId(capabilities) === dialectId(player)) return null;
  const message = `a program answers at the endpoint ${endpoint}, which is registered as ${player.name}: use another port, or that name and the dialect of that registration`;
  return protocolError("L003", message, details);
}

/**
 * Whether other programs can have the address of a player: its host is the machine of the manager, or may be the same as the host of another endpoint
 * that the league knows.
 */
function sharesAddress(
  player: Agent,
  places: readonly Place[],
  agents: readonly Agent[],
  machineAddresses: MachineAddresses,
): boolean {
  const host = hostOf(player.endpoint);
  if (host === null || isThisMachine(host, machineAddresses)) return true;
  const hosts = [...agents, ...places].flatMap(({ id, endpoint }) =>
    id === player.id ? [] : [hostOf(endpoint ?? "")],
  );
  return hosts.some((other) => other !== null && mayBeSame(host, other));
}

/** Whether two hosts may be one machine: they are equal, or they are not both IPv4 addresses or both IPv6 addresses. */
function mayBeSame(one: string, other: string): boolean {
  const areBoth = (form: RegExp): boolean => form.test(one) && form.test(other);
  return one === other || !(areBoth(/^\d+(\.\d+){3}$/) || areBoth(/:/));
}

/** Returns the host of an endpoint; null for the endpoint of a player with an inbox. */
function hostOf(endpoint: string): string | null {
  const url = parseEndpoint(endpoint);
  return url && bareHost(url);
}

/** The id of a dialect, without the form that follows it. */
const dialectId = ({ dialect }: Pick<Capabilities, "dialect">): string => dialect.split(":", 1)[0] ?? "";

/** The name of a player whose name is taken, which is common because programs are copied: it has the port of the endpoint. */
export const nameWithPort = (name: string, endpoint: string): string =>
  `${cutTo(90, name)} (${URL.parse(endpoint)?.port ?? ""})`;
