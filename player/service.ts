import { basename } from "node:path";
import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import { equalSecrets } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { flat } from "#shared/lib/text.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import * as messages from "#shared/protocol/messages.ts";
import { signatureCheck } from "#shared/protocol/signing.ts";
import { isLoopback } from "#shared/rpc/addresses.ts";
import { mcpEndpoint } from "#shared/rpc/mcp-endpoint.ts";
import { type Answer, type Caller, operation, toolsOf } from "#shared/rpc/operations.ts";
import { listenHostFor } from "#shared/rpc/own-addresses.ts";
import { createPeers } from "#shared/rpc/peer.ts";
import { REQUESTS_PER_MINUTE, rateLimit } from "#shared/rpc/rate-limit.ts";
import { type AgentProcess, type Listening, listen, type RunningAgent } from "#shared/runtime/agent.ts";
import { contactEndpoint, placeName } from "#shared/runtime/contact.ts";
import { endWithParent } from "#shared/runtime/orphan.ts";
import { register } from "#shared/runtime/registration.ts";
import { tokenFileOf } from "#shared/runtime/secret-file.ts";
import { VERSION } from "#shared/runtime/version.ts";
import { webApp } from "#shared/runtime/web.ts";
import { createInviters } from "./inviters.ts";
import { isBotFile, loadBot } from "./load-bot.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import { MakeMove } from "./make-move.ts";
import { createManualBot, type ManualBot } from "./manual.ts";
import { createNews, type News } from "./news.ts";
import { createPlayer, type Player } from "./player.ts";

export interface PlayerOptions {
  /** Built-in name, file, `uci:COMMAND`, or `manual`: moves come through the tool make_move. */
  readonly bot: string;
  /** Display name; null for one made from the bot and where it is reached. */
  readonly name: string | null;
  /** The address to listen on; null: loopback for a manager on this machine, else every address. */
  readonly host: string | null;
  readonly ports: readonly number[];
  /** How others reach this agent; null for where it listens. */
  readonly endpoint?: string | null;
  /** The word that the league asks of whoever registers; null without one. */
  readonly joinCode?: string | null;
  /** The manager's endpoint; null for a player that is registered on its behalf. */
  readonly manager: string | null;
  readonly leagueIds: readonly string[] | null;
  readonly registerTimeoutMs: number;
  /** Whether callers on loopback without a token are held to the rate limit too. */
  readonly limitLoopback: boolean;
  /** Where the token is kept. */
  readonly dataFolder: string;
}

/** Who this player is once it is registered; until then, or when somebody else registered it, it can check no signature. */
interface Identity {
  id: string;
  token: string | null;
  isSigned: ((subject: string, signature: string) => boolean) | null;
}

/** Starts a player: its endpoint first, so that it can be called as soon as it is registered. */
export async function startPlayer(options: PlayerOptions, self: AgentProcess): Promise<RunningAgent> {
  if (isBotFile(options.bot)) endWithParent(); // what a file does is its own affair, and it may never end
  const manual = options.bot === "manual" ? createManualBot() : null;
  const bot: LoadedBot = manual?.bot ?? (await loadBot(options.bot));
  const player = createPlayer(bot, (line) => self.warn(line));
  const identity: Identity = { id: "new", token: null, isSigned: null };
  const news = createNews(self.say, () => identity.id);
  const operations = [...matchOperations(player, identity, news), ...handOperations(player, manual, identity)];
  const mcp = mcpEndpoint(
    {
      serverInfo: { name: "player", version: VERSION },
      instructions: `This server is one player of a league of games. ${manual ? "You make its moves: call get_my_state to see the open move requests, answer each with make_move before its deadline, then call get_my_state again." : "Its bot makes the moves: get_my_state shows its matches, and make_move is refused."}`,
      tools: toolsOf(operations, () => flat("player:", identity.id)),
      resources: [],
      templates: [],
    },
    (error) => self.log.error({ err: error }, "internal error"),
  );
  const server = await listen({
    host: options.host ?? listenHostFor(options.manager),
    ports: options.ports,
    door: mcp.door,
    sessions: mcp.sessions,
    gate: rateLimit({
      perMinute: REQUESTS_PER_MINUTE.player,
      loopback: options.limitLoopback,
      // A player that was registered on its behalf has no token to tell friends from strangers by.
      isTrusted: ({ token, subject }) =>
        identity.isSigned === null || (subject !== null && identity.isSigned(subject, token)),
    }),
    isReady: () => options.manager === null || identity.isSigned !== null,
    web: webApp(self.log),
  });
  const peers = createPeers();
  const stopping = new AbortController();
  if (options.manager === null) self.say(`${bot.name} plays at ${server.urls[0]}/mcp`);
  self.report({ type: "ready", url: server.url });

  const registering = options.manager
    ? registerPlayer(options, options.manager, bot, server, identity, peers, stopping.signal, self)
    : null;
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

async function registerPlayer(
  options: PlayerOptions,
  manager: string,
  bot: LoadedBot,
  server: Listening,
  identity: Identity,
  peers: ReturnType<typeof createPeers>,
  signal: AbortSignal,
  self: AgentProcess,
): Promise<void> {
  const { endpoint = null, registerTimeoutMs: timeoutMs } = options;
  const contact = await contactEndpoint({ manager, server, endpoint, timeoutMs, self, signal });
  const name = options.name ?? `${basename(bot.name)} ${placeName(contact)}`;
  self.say(`${bot.name} plays as ${name} at ${contact}`);
  const { response, token } = await register({
    peers,
    manager,
    type: "PLAYER_REGISTER_REQUEST",
    sender: `player:${name}`,
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
    tokenFile: tokenFileOf(options.dataFolder, "player", name),
    self,
    signal,
  });
  identity.id = response.player_id ?? name;
  identity.token = token;
  identity.isSigned = signatureCheck(token);
  self.say(`registered as ${identity.id} in ${response.league_ids?.join(", ") || "no league"}`);
}

/** What the manager and the referees tell and ask a player; each message must be signed for this player when it has a token. */
function matchOperations(player: Player, identity: Readonly<Identity>, news: News) {
  const inviters = createInviters();
  const signed =
    <P extends { league_id: string; match_id?: string }>(
      handle: (payload: P) => Answer | Promise<Answer>,
      isInvitation = false,
    ) =>
    (payload: P, caller: Caller): Answer | Promise<Answer> => {
      const { league_id, match_id } = payload;
      const subject = match_id === undefined ? league_id : matchRef(league_id, match_id);
      const token = caller.authToken ?? "";
      const isGenuine = identity.isSigned?.(subject, token) ?? inviters.isSame(subject, token, isInvitation);
      return isGenuine ? handle(payload) : err(protocolError("L004", "this message is not signed for me", { subject }));
    };
  const heard = <P extends { league_id: string; match_id?: string }>(
    request: messages.MessageType,
    payload: z.ZodType<P>,
    hear: (payload: P) => void = () => {},
  ) =>
    operation({
      request,
      reply: "ACK",
      payload,
      handle: signed<P>((heard) => {
        hear(heard);
        return ok({});
      }),
    });

  return [
    operation({
      request: "GAME_INVITE",
      reply: "GAME_INVITE_RESPONSE",
      payload: messages.GameInvite,
      handle: signed(async (invite) => ok({ match_id: invite.match_id, ...(await player.invite(invite)) }), true),
    }),
    operation({
      request: "MOVE_REQUEST",
      reply: "MOVE_RESPONSE",
      payload: messages.MoveRequest,
      handle: signed(async (request) => {
        const answer = await player.move(request);
        const { match_id, tick } = request;
        if (answer === "unknown_match") {
          return err(protocolError("G003", "I was not invited to this match", { match_id }, true));
        }
        if (answer === "old_epoch")
          return err(protocolError("G003", "the match goes on under a newer epoch", { match_id }));
        if ("failed" in answer) return err(protocolError("G001", answer.failed, { match_id, tick }, true));
        return ok({ match_id, tick, move: answer.move });
      }),
    }),
    operation({
      request: "GAME_RESULT",
      reply: "ACK",
      payload: messages.GameResult,
      handle: signed(async (result) => {
        const info = await player.finish(result);
        if (info) news.matchEnded(info, result);
        return ok({});
      }),
    }),
    heard("GAME_START", messages.GameStart),
    heard("ROUND_RESULT", messages.RoundResult),
    heard("ROUND_ANNOUNCEMENT", messages.RoundAnnouncement),
    heard("ROUND_START", messages.RoundStart),
    heard("ROUND_END", messages.RoundEnd, news.roundEnded),
    heard("LEAGUE_STANDINGS_UPDATE", messages.StandingsUpdate, news.standings),
  ];
}

/** The tools of a player run by hand (PROTOCOL.md, section 4). */
export function handOperations(player: Player, manual: ManualBot | null, identity: Readonly<Identity>) {
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
          "Returns the matches of this player, its last result and, for a player run by hand, the open move requests with the view of the game, the legal actions and the deadline. Answer them with make_move.",
        plain: z.object({}),
        result: z.looseObject({
          bot: z.string(),
          matches_begun: z.int(),
          matches_won: z.int(),
          asked: z.array(z.looseObject({})).optional().describe("what make_move would answer, oldest first"),
        }),
        annotations: { readOnlyHint: true },
      },
      handle: (_, caller) =>
        ok({ ...player.state(isOwner(caller)), ...(manual && isNear(caller) && { asked: manual.asked() }) }),
    }),
  ];
}
