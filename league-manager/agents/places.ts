import { equalSecrets } from "#shared/lib/hash.ts";
import { playerId, refereeId } from "#shared/lib/ids.ts";
import { endpointKey, type MachineAddresses } from "#shared/protocol/addresses.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { AgentKind } from "./agent.ts";

/** A place that the config keeps: the agent that registers under this name, or at this endpoint, gets this id. */
export interface Place {
  readonly id: string;
  readonly kind: AgentKind;
  /** null: the agent may have any name. */
  readonly name: string | null;
  /** null: the agent may be at any endpoint. */
  readonly endpoint: string | null;
  /** Only for an agent that the run starts itself: where it listens, and the SHA-256 of the token that it must send. */
  readonly own: { readonly endpoint: string; readonly tokenHash: string } | null;
}

/** The properties of a registering agent that decide about its place. `key` is the `endpointKey` of its endpoint on this machine. */
export interface Claim {
  readonly kind: AgentKind;
  readonly name: string;
  readonly key: string;
  readonly machineAddresses: MachineAddresses;
}

const localEndpoint = (port: number): string => `http://127.0.0.1:${port}/mcp`;

/**
 * The places of a config: the nth player is P0n and the nth referee REF0n, in any order of registration. `ownTokenHash` gives the hash of
 * the token of an agent that the run starts; null when the manager runs alone.
 */
export function placesOf(
  config: Pick<Config, "players" | "playersFirstPort" | "referees">,
  ownTokenHash: ((kind: AgentKind, name: string) => string) | null,
): readonly Place[] {
  const ownAt = (port: number, kind: AgentKind, name: string): Place["own"] =>
    ownTokenHash && { endpoint: localEndpoint(port), tokenHash: ownTokenHash(kind, name) };
  const players = config.players.map(
    (player, index): Place => ({
      id: playerId(index + 1),
      kind: "player",
      name: player.name,
      endpoint: "endpoint" in player ? player.endpoint : null,
      own: "bot" in player || "uci" in player ? ownAt(config.playersFirstPort + index, "player", player.name) : null,
    }),
  );
  const referees = Array.from({ length: config.referees.count }, (_, index): Place => {
    const port = config.referees.firstPort + index;
    const place = { id: refereeId(index + 1), kind: "referee", name: null, endpoint: localEndpoint(port) } as const;
    return { ...place, own: ownAt(port, "referee", String(port)) };
  });
  return [...players, ...referees];
}

/** Why an agent may not have a name or endpoint that is kept for an agent of the run; null if it may. */
export function keptForOwn(
  places: readonly Place[],
  claim: Claim & { readonly endpoint: string; readonly tokenHash: string },
): ProtocolError | null {
  const { kind, name, endpoint, key, machineAddresses, tokenHash } = claim;
  const place = places.find(
    (one) =>
      one.own && one.kind === kind && (one.name === name || endpointKey(one.own.endpoint, machineAddresses) === key),
  );
  if (!place?.own || equalSecrets(place.own.tokenHash, tokenHash)) return null;
  const what = place.name === name ? `the name ${name}` : `the endpoint ${endpoint}`;
  return protocolError("L003", `${what} is kept for an agent of this run`, { display_name: name, endpoint });
}

/** Whether the config lists the endpoint of the agent with this id. */
export const hasListedEndpoint = (places: readonly Place[], id: string): boolean =>
  places.some((place) => place.id === id && place.endpoint !== null);

/** Whether an agent may take a place: every part that the place names must be the agent's. */
const fits = (place: Place, { kind, name, key, machineAddresses }: Claim): boolean =>
  place.kind === kind &&
  (place.name === null || place.name === name) &&
  (place.endpoint === null || endpointKey(place.endpoint, machineAddresses) === key);

/** The id of a new agent: that of its place, or else a number that no agent has had. `areKept`: other agents do not get the ids of places. */
export function newIdFor(
  claim: Claim,
  places: readonly Place[],
  areKept: boolean,
  taken: { readonly has: (id: string) => boolean },
  lastForgotten: number,
): string {
  const place = places.find((one) => !taken.has(one.id) && fits(one, claim));
  if (place) return place.id;
  const idOf = claim.kind === "player" ? playerId : refereeId;
  const kept = new Set(areKept ? places.map(({ id }) => id) : []);
  let ordinal = lastForgotten + 1;
  while (taken.has(idOf(ordinal)) || kept.has(idOf(ordinal))) ordinal++;
  return idOf(ordinal);
}
