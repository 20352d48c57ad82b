import { basename } from "node:path";
import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import { equalSecrets } from "#shared/lib/hash.ts";
import { isToken } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { flat } from "#shared/lib/text.ts";
import { hostsOf, isLoopback } from "#shared/protocol/addresses.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { agentStates } from "#shared/protocol/lifecycle.ts";
import * as messages from "#shared/protocol/messages.ts";
import type { Listening } from "#shared/rpc/http/listen.ts";
import { listenHostFor } from "#shared/rpc/http/own-addresses.ts";
import { REQUESTS_PER_MINUTE, rateLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import { mcpEndpoint } from "#shared/rpc/mcp/endpoint.ts";
import { type Caller, operation, toolsOf } from "#shared/rpc/mcp/operations.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { contactEndpoint, placeName } from "#shared/runtime/contact.ts";
import { listen } from "#shared/runtime/listen.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { endWithSupervisor } from "#shared/runtime/process/parent-watchdog.ts";
import { VERSION } from "#shared/runtime/process/version.ts";
import { register, takeToken } from "#shared/runtime/registration.ts";
import { ownSecret, tokenFileOf } from "#shared/runtime/secret-file.ts";
import { webApp } from "#shared/runtime/web.ts";
import { isBotFile, loadBot } from "./load-bot.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import { MakeMove } from "./make-move.ts";
import { createManualBot, type ManualBot } from "./manual.ts";
import { idIn, matchOperations } from "./match-operations.ts";
import { createNews, type News } from "./news.ts";
import { PlayerOptions } from "./options.ts";
import { createPlayer, type Player } from "./player.ts";
import { type Registered, tokenNotice } from "./token-notice.ts";
import { acceptNothing, acceptSigned, acceptThisMachine, type Trust } from "./trust.ts";

interface Identity {
  /** "new" until the player is registered. */
  id: string;
  /** Its name in the league; the bot's name until that is known. */
  name: string;
  /** null until it is registered. */
  registered: Registered | null;
  /** Its token, or the secret of a player that does not register itself. */
  token: string | null;
  trust: Trust;
}

/** Starts a player: its endpoint first, so that it can be called as soon as it is registered. */
export async function startPlayer(given: z.input<typeof PlayerOptions>, self: AgentProcess): Promise<RunningAgent> {
  const options = PlayerOptions.parse(given);
  if (isBotFile(options.bot)) endWithSupervisor(); // what a file does is its own affair, and it may never end
  const manual = options.bot === "manual" ? createManualBot() : null;
  const bot: LoadedBot = manual?.bot ?? (await loadBot(options.bot, self.clock));
  const player = createPlayer(bot, (line) => self.warn(line), self.clock);
  const identity: Identity = {
    id: "new",
    name: options.name ?? bot.name,
    registered: null,
    token: null,
    trust: acceptNothing,
  };
  if (options.manager === null) takeSecret(identity, options, self);
  const news = createNews(self.say);
  const noticeOfReset = tokenNotice(() => identity.registered);
  const operations = [
    ...matchOperations(player, identity, news, (message, caller) => {
      const line = noticeOfReset(message, caller);
      if (line !== null) self.warn(line);
    }),
    ...handOperations(player, manual, identity, news),
  ];
  const mcp = mcpEndpoint(
    {
      serverInfo: { name: "player", version: VERSION },
      instructions: `This server is one player of a league of games. ${manual ? "You make its moves: call get_my_state to see the open move requests, answer each with make_move before its deadline, then call get_my_state again." : "Its bot makes the moves: get_my_state shows its matches, and make_move is refused."}`,
      tools: toolsOf(operations, (about) => flat("player:", idIn(player, about) ?? identity.id), self.clock, self.ids),
      resources: [],
      templates: [],
    },
    (error) => self.log.error({ err: error }, "internal error"),
    self.clock,
    self.ids,
  );
  const server = await listen(self.network, {
    log: self.log,
    host: options.host ?? listenHostFor(options.manager, self.network.interfaces()),
    allowedHosts: hostsOf(options.endpoint),
    ports: options.ports,
    handler: mcp.handler,
    sessions: mcp.sessions,
    gate: rateLimit({
      perMinute: REQUESTS_PER_MINUTE.player,
      loopback: options.limitLoopback,
      isTrusted: ({ token, subject }) =>
        subject !== null && (identity.trust.isSigned(subject, token) || player.isPlaying(subject, token)),
    }),
    isReady: () => options.manager === null || identity.registered !== null,
    web: webApp(self.log),
  });
  const peers = self.network.createPeers();
  const stopping = new AbortController();
  if (options.manager === null) self.say(`${bot.name} plays at ${server.urls[0]}/mcp`);
  self.report({ type: "ready", url: server.url });

  const registering = options.manager
    ? registerPlayer(options, options.manager, bot, server, identity, peers, stopping.signal, self)
    : null;
  registering?.then(
    ({ id, leagueIds }) => news.registered(id, leagueIds),
    () => {},
  );
  registering?.catch((thrown) => {
    if (!stopping.signal.aborted) throw thrown; // StartError: ends the process with its message
  });

  return {
    async stop() {
      stopping.abort();
      await mcp.close();
      await server.close();
      // Behind the server: a bot whose turn is cut must have nobody left to fail before, since that would cost it an answer.
      player.close();
      await peers.close();
      await bot.close?.();
    },
  };
}

/** A player that does not register itself verifies messages with its secret; without a secret it accepts only its own machine. */
function takeSecret(identity: Identity, { secretFile, host }: PlayerOptions, self: AgentProcess): void {
  if (secretFile === null) {
    identity.trust = acceptThisMachine;
    if (host !== null && !isLoopback(host))
      self.say("without --secret-file it accepts matches from programs on this machine only");
    return;
  }
  const secret = ownSecret(self, secretFile);
  if (!isToken(secret)) {
    throw new StartError(
      `${secretFile}: a secret has 43 characters; delete the file, and a new one is created`,
      EXIT.config,
    );
  }
  self.say(`its secret is in ${secretFile}: enter it as this player's "secret" in the config of the league`);
  setToken(identity, secret);
}

function setToken(identity: Identity, token: string): void {
  identity.token = token;
  identity.trust = acceptSigned(token);
}

async function registerPlayer(
  options: PlayerOptions,
  manager: string,
  bot: LoadedBot,
  server: Listening,
  identity: Identity,
  peers: Peers,
  signal: AbortSignal,
  self: AgentProcess,
): Promise<{ id: string; leagueIds: readonly string[] }> {
  const { endpoint, registerTimeoutMs: timeoutMs } = options;
  const contact = await contactEndpoint({ manager, server, endpoint, timeoutMs, self, signal });
  const name = options.name ?? `${basename(bot.name)} ${placeName(contact)}`;
  identity.name = name;
  self.say(`${bot.name} plays as ${name} at ${contact}`);
  const sender = `player:${name}`;
  const tokenFile = tokenFileOf(options.dataFolder, "player", name);
  // The player chooses its token before it registers, so it can check the signature of every message from the first one on.
  const own = takeToken(self, tokenFile, sender, signal);
  setToken(identity, own);
  const { response, token } = await register({
    peers,
    manager,
    type: "PLAYER_REGISTER_REQUEST",
    sender,
    payload: {
      display_name: name,
      version: VERSION,
      game_types: bot.games ?? gameIds,
      contact_endpoint: contact,
      ...(options.joinCode && { join_code: options.joinCode }),
      legal_actions: false,
      round_results: false,
      batch: true,
      ...(options.leagueIds && { league_ids: options.leagueIds }),
    },
    response: messages.PlayerRegisterResponse,
    timeoutMs,
    token: own,
    tokenFile,
    self,
    signal,
  });
  const leagueIds = response.league_ids ?? [];
  identity.id = response.player_id ?? name;
  identity.registered = { playerId: identity.id, leagueIds, tokenFile };
  setToken(identity, token);
  self.say(`registered as ${identity.id} in ${leagueIds.join(", ") || "no league"}`);
  return { id: identity.id, leagueIds };
}

/** The tools of a player run by hand (PROTOCOL.md, section 4). */
export function handOperations(
  player: Player,
  manual: ManualBot | null,
  identity: Pick<Identity, "token" | "name">,
  news: Pick<News, "facts">,
) {
  const isOwner = ({ authToken }: Caller): boolean =>
    identity.token !== null && authToken !== null && equalSecrets(identity.token, authToken);
  /** Who may see what a player run by hand sees, and move for it: the people at its machine, from elsewhere who has its token. */
  const isNear = (caller: Caller): boolean => isLoopback(caller.remoteAddress) || isOwner(caller);
  return [
    operation({
      request: "MAKE_MOVE",
      reply: "MAKE_MOVE_RESPONSE",
      payload: MakeMove,
      tool: {
        name: "make_move",
        title: "Make a move",
        description:
          "Answers the move request that is open, for a player run by hand (--bot manual). Call get_my_state first: it lists the open requests with their legal actions. An illegal move is refused and the request stays open.",
        plain: MakeMove,
        result: z.object({
          status: z.literal("SENT"),
          game: z.string(),
          your_role: z.string(),
          tick: z.int(),
          move: z.unknown(),
        }),
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle({ move, match_id }, caller) {
        if (!manual) return err(protocolError("G004", "this player's bot decides its own moves"));
        if (!isNear(caller)) return err(protocolError("L004", "from another machine, bring this player's token"));
        return manual.makeMove(move, match_id ?? null);
      },
    }),
    operation({
      request: "GET_MY_STATE",
      reply: "GET_MY_STATE_RESPONSE",
      payload: z.object({}),
      tool: {
        name: "get_my_state",
        title: "My state",
        description:
          "Returns who this player is in the league (player_id, name, state, points), its matches, its last result and, for a player run by hand, the open move requests with the view of the game, the legal actions and the deadline. Answer them with make_move.",
        plain: z.object({}),
        result: z.looseObject({
          player_id: z.string().nullable().describe("null until the league manager or a referee has sent it"),
          name: z.string(),
          state: z.enum(agentStates).describe("its lifecycle state in the league, as of the last round"),
          points: z.number().describe("of all its leagues together"),
          leagues: z.array(z.object({ league_id: z.string(), points: z.number(), rank: z.int().nullable() })),
          bot: z.string(),
          matches_begun: z.int(),
          matches_won: z.int(),
          asked: z.array(z.looseObject({})).optional().describe("what make_move would answer, oldest first"),
        }),
        annotations: { readOnlyHint: true },
      },
      handle: (_, caller) =>
        ok({
          ...news.facts(),
          name: identity.name,
          ...player.state(isOwner(caller)),
          ...(manual && isNear(caller) && { asked: manual.asked() }),
        }),
    }),
  ];
}
