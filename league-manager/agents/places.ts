import { equalSecrets } from "#shared/lib/hash.ts";
import { playerId, refereeId } from "#shared/lib/ids.ts";
import { type AllowedContacts, endpointKey, type MachineAddresses } from "#shared/protocol/addresses.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { AgentKind } from "./registered-agent.ts";

/** A reservation of the config: the agent that registers under this name or at this endpoint gets this id. */
export interface Place {
  readonly id: string;
  readonly kind: AgentKind;
  /** null: the agent may have any name. */
  readonly name: string | null;
  /** null: the agent may be at any endpoint. */
  readonly endpoint: string | null;
  /** The endpoint of an agent that the run starts, and the SHA-256 of the token that it must send; null for other agents. */
  readonly startedByRun: { readonly endpoint: string; readonly tokenHash: string } | null;
}

/** The properties that determine the place of a registering agent. `key` is the `endpointKey` of its endpoint on this machine. */
interface Claim {
  readonly kind: AgentKind;
  readonly name: string;
  readonly key: string;
  readonly machineAddresses: MachineAddresses;
}

const localEndpoint = (port: number): string => `http://127.0.0.1:${port}/mcp`;

/**
 * The places of a config: the nth player is P0n and the nth referee REF0n, in any order of registration. `tokenHashOf` returns the hash of the token
 * of an agent that the run starts. It is null if the manager starts without a run.
 */
export function placesOf(
  config: Pick<Config, "players" | "playersFirstPort" | "referees">,
  tokenHashOf: ((kind: AgentKind, name: string) => string) | null,
): readonly Place[] {
  const startedAt = (port: number, kind: AgentKind, name: string): Place["startedByRun"] =>
    tokenHashOf && { endpoint: localEndpoint(port), tokenHash: tokenHashOf(kind, name) };
  const players = config.players.map(
    (player, index): Place => ({
      id: playerId(index + 1),
      kind: "player",
      name: player.name,
      endpoint: "endpoint" in player ? player.endpoint : null,
      startedByRun:
        "endpoint" in player || "self" in player || "human" in player
          ? null
          : startedAt(config.playersFirstPort + index, "player", player.name),
    }),
  );
  const referees = Array.from({ length: config.referees.count }, (_, index): Place => {
    const port = config.referees.firstPort + index;
    const place = { id: refereeId(index + 1), kind: "referee", name: null, endpoint: localEndpoint(port) } as const;
    return { ...place, startedByRun: startedAt(port, "referee", String(port)) };
  });
  return [...players, ...referees];
}

/** Returns L003 if the name or the endpoint is reserved for an agent that the run starts, and the token is not the token of that agent; null otherwise. */
export function reservationConflict(
  places: readonly Place[],
  claim: Claim & { readonly endpoint: string | null; readonly tokenHash: string },
): ProtocolError | null {
  const { kind, name, endpoint, key, machineAddresses, tokenHash } = claim;
  const place = places.find(
    ({ startedByRun, ...reserved }) =>
      startedByRun &&
      reserved.kind === kind &&
      (reserved.name === name || endpointKey(startedByRun.endpoint, machineAddresses) === key),
  );
  if (!place?.startedByRun || equalSecrets(place.startedByRun.tokenHash, tokenHash)) return null;
  const subject = place.name === name ? `the name ${name}` : `the endpoint ${endpoint}`;
  return protocolError("L003", `${subject} is reserved for an agent of this run`, { display_name: name, endpoint });
}

/** Whether the config lists the endpoint of the agent with this id. */
export const hasListedEndpoint = (places: readonly Place[], id: string): boolean =>
  places.some((place) => place.id === id && place.endpoint !== null);

/** The places whose endpoint the config lists, and that have this `endpointKey`. */
export const listedAt = (
  places: readonly Place[],
  kind: AgentKind,
  key: string,
  machineAddresses: MachineAddresses,
): readonly Place[] =>
  places.filter(
    (place) => place.kind === kind && place.endpoint !== null && endpointKey(place.endpoint, machineAddresses) === key,
  );

/** Whether an agent may take a place: the name and endpoint of the place must match if they are set. */
const fits = (place: Place, { kind, name, key, machineAddresses }: Claim): boolean =>
  place.kind === kind &&
  (place.name === null || place.name === name) &&
  (place.endpoint === null || endpointKey(place.endpoint, machineAddresses) === key);

/**
 * Returns the id of a new agent: the id of its place, or the next id that no agent has had. If `arePlacesReserved` is true, agents without a place do
 * not get the ids of places.
 */
export function newIdFor(
  claim: Claim,
  places: readonly Place[],
  arePlacesReserved: boolean,
  usedIds: { readonly has: (id: string) => boolean },
  lastForgotten: number,
): string {
  const place = places.find((candidate) => !usedIds.has(candidate.id) && fits(candidate, claim));
  if (place) return place.id;
  const idOf = claim.kind === "player" ? playerId : refereeId;
  const reserved = new Set(arePlacesReserved ? places.map(({ id }) => id) : []);
  let ordinal = lastForgotten + 1;
  while (usedIds.has(idOf(ordinal)) || reserved.has(idOf(ordinal))) ordinal++;
  return idOf(ordinal);
}

/** The rules of admission that the config and the way of starting determine. */
export interface AdmissionPolicy {
  readonly places: readonly Place[];
  /** `roster`: only the agents of the reserved places may register; `count`: any player may enter until the league is full. */
  readonly startWhen: "roster" | "count";
  /** The join code that a registration without an agent's token needs; null if none is needed. */
  readonly joinCode: string | null;
  readonly allowedContacts: AllowedContacts;
  /** SHA-256 of the operator's token. No agent may use it as its token, because the answer to a registration contains the agent's token. */
  readonly operatorTokenHash: string;
  /** `max_players` of the leagues of the config that set it. */
  readonly maxPlayers: ReadonlyMap<string, number>;
}
