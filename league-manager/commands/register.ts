import { withoutVersion } from "#shared/games/game.ts";
import { knownGameIds } from "#shared/games/registry.ts";
import type { MachineAddresses } from "#shared/protocol/addresses.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { offersWebSocket } from "#shared/protocol/message-fields.ts";
import { ANY_GAME, type PlayerRegisterRequest, type RefereeRegisterRequest } from "#shared/protocol/messages.ts";
import { type AdmittedPlayer, admitPlayer, admitReferee, isPlaying } from "../agents/admission.ts";
import type { Admitted, Presence, PresenceCheck } from "../agents/agent-identity.ts";
import type { AdmissionPolicy } from "../agents/places.ts";
import { type AgentKind, type Capabilities, nameCommitment } from "../agents/registered-agent.ts";
import type { Decide } from "../ledger.ts";
import { activateReferee, dropReferee, leaveOpenLeagues } from "./agent-commands.ts";
import { Draft } from "./draft.ts";

/** The inputs of a registration that are not in its payload. */
interface RegistrationContext {
  /** The token that the request carries. */
  readonly token: string | null;
  readonly remoteAddress: string;
  readonly machineAddresses: MachineAddresses;
  /** A new random token and a new random salt. */
  readonly newToken: string;
  readonly salt: string;
}
export interface PlayerRegistration extends RegistrationContext {
  readonly request: PlayerRegisterRequest;
  /** Whether the manager hosts the player. */
  readonly isHosted?: boolean | undefined;
  readonly presence: Presence;
  /** `native`, or the text of `speechText`. */
  readonly dialect: string;
  /** Whether the request comes from the address of its endpoint. */
  readonly isFromEndpoint: boolean;
  /** Whether the config itself registers the player. */
  readonly isListing?: boolean | undefined;
}
export interface RefereeRegistration extends RegistrationContext {
  readonly request: RefereeRegisterRequest;
  /** Ids of the referees that do not answer health probes, the longest silence first. */
  readonly silent: readonly string[];
}

export interface Registered {
  readonly type: "registered";
  readonly agentId: string;
  /** The token of the agent after the registration. */
  readonly token: string;
  readonly isNew: boolean;
  readonly leagueIds: readonly string[];
}

/**
 * Registers a player and enters it into leagues. The reply `presence_check` means that nothing is registered yet: the caller checks whether the player
 * in the reply has left its endpoint, and repeats the command or rejects the registration.
 */
export const registerPlayer =
  (policy: AdmissionPolicy, registration: PlayerRegistration): Decide<Registered | PresenceCheck> =>
  (state, at) => {
    const { request } = registration;
    const capabilities = playerCapabilities(request, registration);
    const leagueIds = request.league_ids ?? null;
    const endpoint = request.contact_endpoint ?? null;
    const attempt = { ...attemptOf(registration), endpoint, at, capabilities, leagueIds };
    const admitted = admitPlayer(state, policy, attempt);
    if (!admitted.ok) return admitted;
    if (admitted.value.type === "presence_check") return new Draft(state, at).decision(admitted.value);
    const draft = new Draft(state, at);
    displace(draft, admitted.value);
    writeAgent(draft, "player", admitted.value);
    enter(draft, admitted.value);
    return draft.decision(replyOf(admitted.value, admitted.value.leagueIds));
  };

/** Registers a referee. If it replaces a silent referee, the silent referee is forgotten in the same append. */
export const registerReferee =
  (
    policy: AdmissionPolicy,
    registration: RefereeRegistration,
  ): Decide<Registered & { readonly replaced: string | null }> =>
  (state, at) => {
    const capabilities = refereeCapabilities(registration.request);
    const endpoint = registration.request.contact_endpoint;
    const attempt = { ...attemptOf(registration), endpoint, at, capabilities, isFromEndpoint: false };
    const admitted = admitReferee(state, policy, attempt);
    if (!admitted.ok) return admitted;
    const { replaced } = admitted.value;
    const draft = new Draft(state, at);
    if (replaced) dropReferee(draft, replaced.id, "silent");
    writeAgent(draft, "referee", admitted.value);
    const isRunning = [...state.leagues.values()].some(({ status }) => status === "running");
    if (isRunning) activateReferee(draft, admitted.value.id);
    return draft.decision({ ...replyOf(admitted.value, [...state.leagues.keys()]), replaced: replaced?.id ?? null });
  };

const attemptOf = <R extends PlayerRegistration | RefereeRegistration>({ request, ...context }: R) => ({
  ...context,
  name: request.display_name,
  joinCode: request.join_code ?? null,
});

/** The known game types of a request, in the order of the registry. */
function knownTypes(requested: readonly string[]): readonly string[] {
  const types = new Set(requested);
  return knownGameIds()
    .flatMap((id) => [withoutVersion(id), id])
    .filter((type) => types.has(type));
}

const playerCapabilities = (
  request: PlayerRegisterRequest,
  { dialect, isHosted = false }: Pick<PlayerRegistration, "dialect" | "isHosted">,
): Capabilities => ({
  gameTypes: [...knownTypes(request.game_types), ...request.game_types.filter((type) => type === ANY_GAME).slice(0, 1)],
  wantsLegalActions: request.legal_actions ?? true,
  wantsRoundResults: request.round_results ?? true,
  wantsAnnouncements: request.announcements ?? true,
  maxConcurrent: 0,
  dialect,
  botHash: request.bot_hash ?? null,
  wantsDeltaViews: dialect === NATIVE && request.history === "delta",
  // The endpoint of a player without one is its inbox, and other dialects are exchanged by POST.
  offersWebSocket: dialect === NATIVE && request.contact_endpoint != null && offersWebSocket(request.transports),
  hasPages: false,
  isPlayedByHand: isHosted || request.by_hand === true,
});

const refereeCapabilities = (request: RefereeRegisterRequest): Capabilities => ({
  gameTypes: knownTypes(request.game_types),
  wantsLegalActions: false,
  wantsRoundResults: false,
  wantsAnnouncements: true,
  maxConcurrent: request.max_concurrent_matches,
  dialect: NATIVE,
  botHash: null,
  wantsDeltaViews: false,
  offersWebSocket: offersWebSocket(request.transports),
  hasPages: request.has_pages ?? false,
  isPlayedByHand: false,
});

const replyOf = ({ id, token, returning }: Admitted, leagueIds: readonly string[]): Registered => ({
  type: "registered",
  agentId: id,
  token,
  isNew: returning === null,
  leagueIds,
});

function writeAgent(draft: Draft, kind: AgentKind, { id, profile, capabilities, returning }: Admitted): void {
  if (returning) draft.agent(id, { type: "return", capabilities, profile }, profile);
  else draft.agent(id, { type: "register", agentId: id, kind, capabilities, profile }, profile);
}

/** Takes the endpoint from displaced players and removes them from open leagues, so that others may enter. Forgets excess absent players. */
function displace(draft: Draft, { displaced, forgotten }: AdmittedPlayer): void {
  for (const player of displaced) {
    const { name, salt, tokenHash } = player;
    draft.agent(player.id, { type: "lose_endpoint" }, { name, salt, tokenHash, endpoint: "" });
    leaveOpenLeagues(draft, player.id);
  }
  for (const { id } of forgotten) draft.agent(id, { type: "forget", reason: "absent" });
}

/**
 * Enters a player into its leagues. Recovers a suspended player, and renews a player whose former leagues are over. A player is never renewed in the
 * middle of a league, where it was shut down for its faults.
 */
function enter(draft: Draft, { id, profile, returning, leagueIds }: AdmittedPlayer): void {
  const leagues = leagueIds.flatMap((leagueId) => draft.state.leagues.get(leagueId) ?? []);
  const entered = leagues.filter(({ entrants }) => !entrants.has(id));
  const isRenewed = !isPlaying(draft.state, id) && leagues.some(({ status }) => status !== "completed");
  for (const { leagueId } of entered)
    draft.mustLeague(leagueId, { type: "enter", playerId: id, nameCommitment: nameCommitment(profile) });
  if (returning?.state !== "SHUTDOWN") draft.agent(id, { type: "recover", by: "registration" });
  else if (isRenewed) draft.agent(id, { type: "renew" });
  if (entered.some(({ status }) => status === "running")) draft.agent(id, { type: "activate" });
}
