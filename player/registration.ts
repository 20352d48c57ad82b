import { hostname } from "node:os";
import { basename } from "node:path";
import { findGame, gameIds } from "#shared/games/registry.ts";
import { ANY_GAME, PlayerRegisterResponse } from "#shared/protocol/registration-messages.ts";
import { OWN_TRANSPORTS } from "#shared/protocol/transports.ts";
import type { Listening } from "#shared/rpc/http/listen.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { addressLabel, contactEndpoint } from "#shared/runtime/contact-endpoint.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { VERSION } from "#shared/runtime/process/version.ts";
import { acquireToken, register } from "#shared/runtime/registration.ts";
import { tokenFileOf } from "#shared/runtime/secret-file.ts";
import { type Identity, setToken } from "./identity.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import type { PlayerOptions } from "./options.ts";

/** The parts of a player that registration needs. */
interface Registering {
  readonly options: PlayerOptions;
  /** The manager's endpoint. */
  readonly manager: string;
  readonly bot: LoadedBot;
  readonly server: Listening;
  /** Receives the name, the token and the id of the player. */
  readonly identity: Identity;
  readonly peers: Peers;
  readonly signal: AbortSignal;
}

/** Registers a player with the manager and sets its identity. Resolves with its id and the ids of its leagues. Rejects with StartError. */
export async function registerPlayer(
  { options, manager, bot, server, identity, peers, signal }: Registering,
  self: AgentProcess,
): Promise<RegisteredPlayer> {
  const { endpoint, registerTimeoutMs: timeoutMs } = options;
  const contact = options.pull ? null : await contactEndpoint({ manager, server, endpoint, timeoutMs, self, signal });
  // Players of several machines can have the same port, so the name of one that is not called contains its machine.
  const label = contact === null ? `${hostname()}:${server.port}` : addressLabel(contact);
  const name = options.name ?? `${basename(bot.name)} ${label}`;
  identity.name = name;
  self.say(`${bot.name} plays as ${name} ${contact === null ? "through an inbox at the manager" : `at ${contact}`}`);
  const sender = `player:${name}`;
  const tokenFile = tokenFileOf(options.dataFolder, "player", name);
  // The player chooses its token before it registers, so that it can check the signature of every message.
  const ownToken = acquireToken(self, tokenFile, sender, signal);
  setToken(identity, ownToken);
  const { response, token } = await register({
    peers,
    manager,
    type: "PLAYER_REGISTER_REQUEST",
    sender,
    payload: requestOf(name, contact, bot, options),
    response: PlayerRegisterResponse,
    timeoutMs,
    token: ownToken,
    tokenFile,
    self,
    signal,
  });
  const leagueIds = response.league_ids ?? [];
  identity.id = response.player_id ?? name;
  identity.registered = { playerId: identity.id, leagueIds, tokenFile };
  setToken(identity, token);
  self.say(`registered as ${identity.id} in ${leagueIds.join(", ") || "no league"}`);
  if (options.pull && !response.inbox) {
    throw new StartError(`the manager at ${manager} has no inboxes: join without --pull`);
  }
  return { id: identity.id, leagueIds, token, inbox: response.inbox ?? null };
}

interface RegisteredPlayer {
  readonly id: string;
  readonly leagueIds: readonly string[];
  readonly token: string;
  /** The URL of the inbox of a player that is not called, else null. */
  readonly inbox: string | null;
}

/** The payload of PLAYER_REGISTER_REQUEST. */
const requestOf = (
  name: string,
  contact: string | null,
  { games, hash }: LoadedBot,
  { joinCode, leagueIds }: PlayerOptions,
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
  ...(contact !== null && { transports: OWN_TRANSPORTS }),
  ...(leagueIds && { league_ids: leagueIds }),
});
