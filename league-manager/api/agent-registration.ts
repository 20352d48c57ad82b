import type { Ids } from "#shared/lib/ids.ts";
import { err, invariant, ok, type Result } from "#shared/lib/result.ts";
import { endpointKey, type MachineAddresses, mayContact, parseEndpoint } from "#shared/protocol/addresses.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { OWN_TRANSPORTS } from "#shared/protocol/message-fields.ts";
import type { PlayerRegisterRequest, RefereeRegisterRequest, StartGame } from "#shared/protocol/messages.ts";
import type { Answer, Caller } from "#shared/rpc/mcp/operations.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Presence, PresenceCheck } from "../agents/agent-identity.ts";
import type { AdmissionPolicy } from "../agents/places.ts";
import type { Agent } from "../agents/registered-agent.ts";
import { leaveReferee } from "../commands/agent-commands.ts";
import { type Registered, registerPlayer, registerReferee } from "../commands/register.ts";
import type { Ledger } from "../ledger.ts";

interface RegistrationOptions {
  readonly ledger: Pick<Ledger, "execute" | "state">;
  readonly policy: AdmissionPolicy;
  readonly ids: Ids;
  /** The current addresses of this machine. */
  readonly machineAddresses: () => MachineAddresses;
  readonly network: Pick<Network, "comesFrom">;
  /** Whether a registered agent has left its endpoint. */
  readonly hasLeft: (agent: Agent) => Promise<boolean>;
  /** Ids of the referees that do not answer health probes, the longest silence first. */
  readonly silentReferees: () => readonly string[];
  /** The matches that are assigned to a referee. The answer to its registration contains them. */
  readonly matchesOf: (refereeId: string) => readonly StartGame[];
  /** Returns the URL of the inbox of a player. `origin` is the one by which the player has called the manager. */
  readonly inboxUrl: (playerId: string, origin: string | undefined) => string;
  /** The origins of the pages of the manager, those for other machines first. */
  readonly pageUrls: () => readonly string[];
  /** Called after each registration of a referee, even if it has changed nothing. */
  readonly onRegistered: (refereeId: string) => void;
}

/** Answers registrations. A rejected registration is an answer with a reason, not an error. */
export interface Registration {
  /**
   * `isHosted`: the manager itself reads the inbox of the player, for a person or a model. `isListing`: the config registers the player. `dialect` is
   * `native`, the default, or the text of `speechText`.
   */
  player(
    request: PlayerRegisterRequest,
    caller: Pick<Caller, "authToken" | "remoteAddress" | "origin">,
    more?: { readonly isHosted?: boolean; readonly dialect?: string; readonly isListing?: boolean },
  ): Promise<Answer>;
  /** Resolves with whether a request comes from the address of an endpoint that it may register. */
  isFromEndpoint(endpoint: string, remoteAddress: string): Promise<boolean>;
  referee(request: RefereeRegisterRequest, caller: Pick<Caller, "authToken" | "remoteAddress">): Promise<Answer>;
}

export function createRegistration(options: RegistrationOptions): Registration {
  const { ledger, policy, ids } = options;
  /** Returns the inputs of a command that are not in the request. A command cannot create them, because it neither reads the system nor draws random values. */
  const contextOf = ({ authToken, remoteAddress }: Pick<Caller, "authToken" | "remoteAddress">) => ({
    token: authToken,
    remoteAddress,
    machineAddresses: options.machineAddresses(),
    newToken: ids.token(),
    salt: ids.token(),
  });
  // The name of a host is resolved only if the config allows it, so that a caller cannot keep the resolver busy.
  const isFromEndpoint: Registration["isFromEndpoint"] = async (endpoint, remoteAddress) => {
    const url = parseEndpoint(endpoint);
    return (
      url !== null &&
      mayContact(url, remoteAddress, policy.allowedContacts) &&
      options.network.comesFrom(endpoint, remoteAddress)
    );
  };
  return {
    isFromEndpoint,

    async player(request, caller, { isHosted = false, dialect = NATIVE, isListing = false } = {}) {
      const endpoint = request.contact_endpoint ?? null;
      const isFrom = isListing || (endpoint !== null && (await isFromEndpoint(endpoint, caller.remoteAddress)));
      const given = { request, isHosted, isListing, dialect, isFromEndpoint: isFrom, ...contextOf(caller) };
      const registered = await registeredPlayer(options, (presence) =>
        ledger.execute(registerPlayer(policy, { ...given, presence })),
      );
      if (!registered.ok) return ok({ player_id: null, ...rejected(registered.error) });
      const { agentId, token, leagueIds } = registered.value;
      const inbox =
        request.contact_endpoint == null && !isHosted ? { inbox: options.inboxUrl(agentId, caller.origin) } : {};
      return ok({ player_id: agentId, ...accepted(token, leagueIds), dialect, ...inbox });
    },

    async referee(request, caller) {
      const context = { ...contextOf(caller), silent: options.silentReferees() };
      const registered = await registeredReferee(options, request, () =>
        ledger.execute(registerReferee(policy, { request, ...context })),
      );
      if (!registered.ok) return ok({ referee_id: null, ...rejected(registered.error) });
      const { agentId, token, leagueIds } = registered.value;
      options.onRegistered(agentId);
      // A referee of an earlier version, which does not know the field, does not receive it.
      const transports = request.transports == null ? {} : { transports: OWN_TRANSPORTS };
      const pages = request.has_pages ? { page_urls: options.pageUrls() } : {};
      const matches = options.matchesOf(agentId);
      return ok({ referee_id: agentId, ...accepted(token, leagueIds), matches, ...transports, ...pages });
    },
  };
}

/** Registers a player. If its endpoint belongs to another player, the manager first checks whether that player still answers there. */
async function registeredPlayer(
  { hasLeft }: Pick<RegistrationOptions, "hasLeft">,
  attempt: (presence: Presence) => Promise<Result<Registered | PresenceCheck, ProtocolError>>,
): Promise<Result<Registered, ProtocolError>> {
  const departed = new Set<string>();
  const present = new Set<string>();
  while (true) {
    const result = await attempt({ departed, present });
    if (!result.ok) return result;
    if (result.value.type === "registered") return ok(result.value);
    const { player, rejection } = result.value;
    const hasAnswer = departed.has(player.id) || present.has(player.id);
    invariant(!hasAnswer || rejection !== null, `the presence of ${player.id} decides its registration`);
    if (!hasAnswer && (await hasLeft(player))) departed.add(player.id);
    else if (rejection !== null) return err(rejection);
    else present.add(player.id);
  }
}

/** Registers a referee. If its endpoint belongs to another referee that does not answer there any more, the manager first forgets that referee. */
async function registeredReferee<T>(
  { ledger, hasLeft, machineAddresses }: RegistrationOptions,
  { contact_endpoint }: RefereeRegisterRequest,
  attempt: () => Promise<Result<T, ProtocolError>>,
): Promise<Result<T, ProtocolError>> {
  const result = await attempt();
  if (result.ok || result.error.error_code !== "L003") return result;
  const addresses = machineAddresses();
  const key = endpointKey(contact_endpoint, addresses);
  const owner = [...ledger.state.agents.values()].find(
    ({ kind, endpoint }) => kind === "referee" && endpointKey(endpoint, addresses) === key,
  );
  if (!owner || !(await hasLeft(owner))) return result;
  await ledger.execute(leaveReferee(owner.id));
  return attempt();
}

const accepted = (token: string, leagueIds: readonly string[]) => ({
  status: "ACCEPTED",
  auth_token: token,
  league_ids: leagueIds,
  reason: null,
  error_code: null,
});

const rejected = (error: ProtocolError) => ({
  status: "REJECTED",
  auth_token: null,
  league_ids: [],
  reason: error.message,
  error_code: error.error_code,
  retryable: error.retryable,
  ...(typeof error.context.cause === "string" && { cause: error.context.cause }),
});
