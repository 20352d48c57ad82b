import { knownGameIds } from "#shared/games/registry.ts";
import { flat } from "#shared/lib/text.ts";
import { isOnLoopback } from "#shared/protocol/addresses.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { OWN_TRANSPORTS, offersWebSocket } from "#shared/protocol/message-fields.ts";
import { RefereeRegisterResponse } from "#shared/protocol/messages.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { VERSION } from "#shared/runtime/program.ts";
import {
  acquireToken,
  addressLabel,
  contactEndpoint,
  type KeptRegistration,
  keepRegistered,
  register,
} from "#shared/runtime/registration.ts";
import { tokenFileOf } from "#shared/runtime/secret-file.ts";
import { originOf } from "#shared/web/site-links.ts";
import type { Referee } from "./match/referee.ts";
import type { ServiceOptions } from "./options.ts";

/** The identity of a referee in its league. Registration sets it; until then the id is "new" and the token is null. */
export interface Identity {
  id: string;
  token: string | null;
  /** Whether the manager can be called over a WebSocket. */
  managerOffersWebSocket?: boolean;
  kept?: KeptRegistration;
  /** The origins of the pages of the manager, if it has pages. */
  managerPages?: readonly string[];
}

/** The parts of a referee that its registration uses. */
interface RegistrationParts {
  readonly peers: Peers;
  readonly referee: Referee;
}

/**
 * Registers a referee with its manager, resumes the matches that are still assigned to it, and keeps it registered. Rejects if the registration fails or
 * `signal` is aborted.
 */
export async function registerReferee(
  options: ServiceOptions,
  manager: string,
  server: Listening,
  { peers, referee }: RegistrationParts,
  identity: Identity,
  self: AgentProcess,
  signal: AbortSignal,
): Promise<void> {
  const { name, endpoint, joinCode, maxConcurrentMatches, registerTimeoutMs: timeoutMs, dataFolder } = options;
  const contact = await contactEndpoint({ manager, server, endpoint, timeoutMs, self, signal });
  const display_name = name ?? `Referee ${addressLabel(contact)}`;
  const sender = `referee:${display_name}`;
  const tokenFile = tokenFileOf(dataFolder, "referee", String(server.port));
  let token = acquireToken(self, tokenFile, sender, signal);
  const enter = async (): Promise<void> => {
    const registered = await register({
      peers,
      manager,
      sender,
      timeoutMs,
      tokenFile,
      self,
      signal,
      token,
      type: "REFEREE_REGISTER_REQUEST",
      payload: {
        display_name,
        version: VERSION,
        game_types: knownGameIds(),
        contact_endpoint: contact,
        ...(joinCode && { join_code: joinCode }),
        max_concurrent_matches: maxConcurrentMatches,
        transports: OWN_TRANSPORTS,
        has_pages: true,
      },
      response: RefereeRegisterResponse,
    });
    const { response } = registered;
    token = registered.token;
    identity.id = response.referee_id ?? display_name;
    identity.token = token;
    identity.managerOffersWebSocket = offersWebSocket(response.transports);
    identity.managerPages = pagesOfManager(manager, response.page_urls ?? []);
    for (const order of response.matches ?? []) await referee.start(order);
  };
  await enter();
  self.say(`registered as ${identity.id}`);
  identity.kept = keepRegistered({
    peers,
    manager,
    self,
    signal,
    timeoutMs,
    knownAs: () => ({ sender: flat("referee:", identity.id), name: display_name, token }),
    registerAgain: enter,
  });
}

interface LeavingOptions {
  readonly manager: string;
  readonly parts: RegistrationParts;
  readonly identity: Identity;
  readonly self: AgentProcess;
}

/** The time limit for the manager's answer. If there is none, the manager finds out by its health probes. */
const LEAVE_TIMEOUT_MS = 2_000;

/** Stops the matches of a registered referee and gives them back to the manager, which assigns them to other referees and forgets this one. */
export async function leaveManager({ manager, parts, identity, self }: LeavingOptions): Promise<void> {
  const { peers, referee } = parts;
  const { id, token } = identity;
  if (token === null) return;
  await referee.stop();
  const envelope = newEnvelope(
    "REFEREE_LEAVE",
    flat("referee:", id),
    {},
    {
      messageId: self.ids.uuid(),
      authToken: token,
      at: self.clock.iso(),
    },
  );
  const reply = await peers.message(manager, envelope, { timeoutMs: LEAVE_TIMEOUT_MS, bearer: token }).catch(asRefused);
  if (!reply.ok || reply.value.type !== "REFEREE_LEAVE_RESPONSE") {
    self.warn("the manager does not know that this referee ends; it assigns the matches again when its probes fail");
    return;
  }
  await referee.giveUp();
  self.say(`${id} has left`);
}

/**
 * Returns the origins of the pages of a manager that has announced `urls`; none if it has no pages. A manager on another machine has no page at
 * loopback for readers of this machine.
 */
export function pagesOfManager(manager: string, urls: readonly string[]): readonly string[] {
  if (urls.length === 0) return [];
  return [...urls.filter((url) => isOnLoopback(manager) || !isOnLoopback(url)), originOf(manager)];
}
