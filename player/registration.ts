import { hostname } from "node:os";
import { basename } from "node:path";
import { findGame, gameIds } from "#shared/games/registry.ts";
import { throwLater } from "#shared/lib/clock.ts";
import { flat, inOneLine } from "#shared/lib/text.ts";
import { parseEndpoint } from "#shared/protocol/addresses.ts";
import { historyField, OWN_TRANSPORTS } from "#shared/protocol/message-fields.ts";
import { ANY_GAME, PlayerRegisterResponse } from "#shared/protocol/messages.ts";
import type { Listening } from "#shared/rpc/http/http-server.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
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
import { type Identity, setToken } from "./identity.ts";
import { enterLater, enterWhenOpen } from "./later-leagues.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import type { PlayerOptions } from "./options.ts";

/** The parts of a player that registration needs. */
interface Registering {
  readonly options: PlayerOptions;
  /** The manager's endpoint. */
  readonly manager: string;
  readonly bot: LoadedBot;
  readonly server: Pick<Listening, "port" | "url" | "isOnEveryAddress">;
  /** Receives the name, the token and the id of the player. */
  readonly identity: Identity;
  readonly peers: Peers;
  readonly signal: AbortSignal;
  readonly onRegistered: (playerId: string, leagueIds: readonly string[]) => void;
}

/**
 * Registers a player with the manager, sets its identity and keeps it registered. `onRegistered` is called after each registration, also a later one.
 * Resolves with the registration, or rejects with StartError.
 */
export async function registerPlayer(
  { options, manager, bot, server, identity, peers, signal, onRegistered }: Registering,
  self: AgentProcess,
): Promise<PlayerRegistration> {
  const { endpoint, registerTimeoutMs: timeoutMs } = options;
  const contact = options.pull ? null : await contactEndpoint({ manager, server, endpoint, timeoutMs, self, signal });
  // Players of several machines can have the same port, so the name of one that is not called contains its machine.
  const label = contact === null ? `${hostname()}:${server.port}` : addressLabel(contact);
  const name = options.name ?? `${basename(bot.name)} ${label}`;
  identity.name = name;
  self.say(
    `${bot.name} registers as ${name} ${contact === null ? "through an inbox at the manager" : `at ${contact}`}`,
  );
  const sender = `player:${name}`;
  const tokenFile = tokenFileOf(options.dataFolder, "player", name);
  // The player chooses its token before it registers, so that it can check the signature of every message.
  let token = acquireToken(self, tokenFile, sender, signal);
  setToken(identity, token);
  let inbox: string | null = null;
  const enter = async (): Promise<void> => {
    const registered = await register({
      peers,
      manager,
      sender,
      timeoutMs,
      token,
      tokenFile,
      self,
      signal,
      type: "PLAYER_REGISTER_REQUEST",
      payload: requestOf(name, contact, bot, options),
      response: PlayerRegisterResponse,
    });
    const { player_id, league_ids, inbox: url } = registered.response;
    // A player that is called polls no inbox.
    inbox = contact === null && url != null ? inboxAt(manager, url) : null;
    const leagueIds = league_ids ?? [];
    token = registered.token;
    identity.id = player_id ?? name;
    identity.registered = { playerId: identity.id, leagueIds, tokenFile };
    setToken(identity, token);
    onRegistered(identity.id, leagueIds);
  };
  const joining = {
    manager,
    peers,
    self,
    signal,
    timeoutMs,
    enter,
    token: () => token,
    sender: () => (identity.registered === null ? sender : flat("player:", identity.id)),
    entered: () => identity.registered?.leagueIds ?? [],
  };
  await (options.entersLater ? enterWhenOpen(joining) : enter());
  self.say(`registered as ${identity.id} in ${identity.registered?.leagueIds.join(", ") || "no league"}`);
  if (options.pull && inbox === null) {
    throw new StartError(`the manager at ${manager} has no inboxes: join without --pull`);
  }
  if (options.entersLater) {
    enterLater(joining).catch((thrown) => {
      if (!signal.aborted) throwLater(self.clock, thrown);
    });
  }
  const kept = keepRegistered({
    peers,
    manager,
    self,
    signal,
    timeoutMs,
    knownAs: () => ({ sender: flat("player:", identity.id), name, token }),
    registerAgain: enter,
  });
  return { ...kept, inbox: () => (inbox === null ? null : { url: inbox, token }) };
}

/**
 * Returns the URL of the inbox in the answer of a manager. Throws a StartError if it is not at the host and the port of the manager, or if the player
 * uses TLS and the inbox does not: the player sends its token there.
 */
function inboxAt(manager: string, url: string): string {
  const given = new URL(manager);
  const inbox = parseEndpoint(url);
  const answered = `the manager at ${manager} answered with the inbox ${inOneLine(url)}`;
  if (inbox === null) throw new StartError(`${answered}, which is not an HTTP URL without credentials`);
  if (inbox.host !== given.host) {
    const step = `If ${inbox.host} is the address of the manager, join with that address under the same name`;
    throw new StartError(`${answered}: its host is ${inbox.host}, and that of the manager is ${given.host}. ${step}`);
  }
  if (given.protocol === "https:" && inbox.protocol !== "https:") {
    const step = "Its proxy must send X-Forwarded-Proto: https, or the config must name the URL in manager.endpoint";
    throw new StartError(`${answered}, without TLS. ${step}`);
  }
  return inbox.href;
}

interface PlayerRegistration extends KeptRegistration {
  /** The URL of the inbox of a player that is not called, with the token for it; else null. */
  inbox(): { readonly url: string; readonly token: string } | null;
}

/** The payload of PLAYER_REGISTER_REQUEST. */
const requestOf = (
  name: string,
  contact: string | null,
  { games, hash }: LoadedBot,
  { bot, joinCode, leagueIds }: PlayerOptions,
) => ({
  display_name: name,
  version: VERSION,
  ...(hash !== undefined && { bot_hash: hash }),
  // The games of files are covered by ANY_GAME, so that their requests list the legal actions.
  game_types: games ?? [...gameIds, ANY_GAME],
  contact_endpoint: contact,
  ...(joinCode && { join_code: joinCode }),
  // The player cannot list the legal actions of a game that it does not know.
  legal_actions: games?.some((id) => findGame(id) === undefined) ?? false,
  round_results: false,
  ...historyField(true),
  ...(contact !== null && { transports: OWN_TRANSPORTS }),
  ...(leagueIds && { league_ids: leagueIds }),
  ...(bot === "manual" && { by_hand: true }),
});
