import { join } from "node:path";
import type { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { type Clock, throwLater } from "#shared/lib/clock.ts";
import { flat } from "#shared/lib/text.ts";
import { hostsOf } from "#shared/protocol/addresses.ts";
import type { GameInvite } from "#shared/protocol/messages.ts";
import { listenHostFor } from "#shared/rpc/http/machine-addresses.ts";
import { REQUESTS_PER_MINUTE, rateLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import { mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { toolsOf } from "#shared/rpc/mcp/operations.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { listen, portSettingOf, webApp } from "#shared/runtime/agent-server.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { type Identity, newIdentity, takeSecret, tokenNotice } from "./identity.ts";
import { pollInbox } from "./inbox-client.ts";
import { recordsFolder } from "./llm/records.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import { loadBot } from "./loaders/load-bot.ts";
import { createManualBot, type ManualBot, manualOperations } from "./manual-bot.ts";
import { MatchLogs } from "./matches/match-logs.ts";
import { idIn, matchOperations } from "./matches/match-operations.ts";
import { Player } from "./matches/player.ts";
import { createNotificationLog, type NotificationLog } from "./notifications.ts";
import { PlayerOptions } from "./options.ts";
import { registerPlayer } from "./registration.ts";
import type { BotObject, Turn } from "./sdk.ts";

/**
 * Starts a player. Resolves when its endpoint listens; registration continues in the background, and its StartError ends the process.
 * Throws StartError if the bot does not load or no port is free. `observed` wraps the bot, for a caller that checks what it receives.
 */
export async function startPlayer(
  given: z.input<typeof PlayerOptions>,
  self: AgentProcess,
  observed: (bot: LoadedBot) => LoadedBot = (bot) => bot,
): Promise<RunningAgent> {
  const options = PlayerOptions.parse(given);
  const manual = options.bot === "manual" ? createManualBot() : null;
  const loaded: LoadedBot =
    manual?.bot ??
    (await loadBot(options.bot, self.clock, {
      recordsFolder: () => join(recordsFolder(options.dataFolder), fileNameOf(identity.name)),
      say: self.say,
      warn: self.warn,
      fail: (error) => throwLater(self.clock, error),
      allow: options.allow,
      inspect: options.inspect,
    }));
  const bot = observed(options.verbose ? withShownTurns(loaded, self.clock) : loaded);
  const showLine = showsLines(() => join(options.dataFolder, "logs", fileNameOf(identity.name)), self);
  const player = new Player(bot, showLine, self.clock);
  const identity = newIdentity(options.name ?? bot.name);
  if (options.manager === null) takeSecret(identity, options, self);
  const notifications = createNotificationLog(self.say);
  const mcp = playerEndpoint({ player, manual, identity, notifications }, self);
  const server = await listen(self.network, {
    log: self.log,
    // No other machine calls this player, so it listens on loopback only, for tools on this machine.
    host: options.host ?? listenHostFor(options.pull ? null : options.manager, self.network.interfaces()),
    allowedHosts: hostsOf(options.endpoint),
    allowedOrigins: options.allowedOrigins,
    ports: options.ports,
    portSetting: portSettingOf("playersFirstPort"),
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

  const { signal } = stopping;
  const { manager } = options;
  const play = async (): Promise<void> => {
    if (manager === null) return;
    const parts = { options, manager, bot, server, identity, peers, signal, onRegistered: notifications.registered };
    const registered = await registerPlayer(parts, self);
    if (registered.inbox() !== null) await pollInbox({ ...registered, ...self, handler: mcp.handler, peers, signal });
  };
  play().catch((thrown) => {
    if (!signal.aborted) throw thrown; // StartError: ends the process with its message
  });

  return {
    async stop() {
      notifications.stopping();
      stopping.abort();
      await mcp.close();
      await server.close();
      // The server is closed first: the referee would count an error in answer to an aborted turn as a fault of the player.
      player.close();
      await peers.close();
      await bot.close?.();
    },
  };
}

/** Returns a function that shows the lines of the bot, and adds those of a match to the file of the match in a folder. */
function showsLines(folder: () => string, { disk, clock, log, warn }: AgentProcess) {
  const logs = new MatchLogs(folder, disk, clock, (err) => log.error({ err }, "cannot write the log of a match"));
  return (line: string, match?: GameInvite): void => {
    warn(line);
    if (match) logs.add(match, line);
  };
}

interface Parts {
  readonly player: Player;
  /** null unless the player is run by hand. */
  readonly manual: ManualBot | null;
  readonly identity: Identity;
  readonly notifications: NotificationLog;
}

/** The MCP endpoint with the tools of a player. */
function playerEndpoint({ player, manual, identity, notifications }: Parts, self: AgentProcess) {
  const noticeOfReset = tokenNotice(() => identity.registered);
  const operations = [
    ...matchOperations(player, identity, notifications, (message, caller) => {
      const line = noticeOfReset(message, caller);
      if (line !== null) self.warn(line);
    }),
    ...manualOperations(player, manual, identity, notifications),
  ];
  return mcpEndpoint(
    {
      serverInfo: { name: "player", version: VERSION },
      instructions: `This server is one player of a league of games. ${manual ? "You make its moves: call get_my_state to see the open move requests, answer each with make_move before its deadline, then call get_my_state again." : "Its bot makes the moves: get_my_state shows its matches, and make_move is rejected."}`,
      tools: toolsOf(operations, (about) => flat("player:", idIn(player, about) ?? identity.id), self.clock, self.ids),
      resources: [],
      templates: [],
    },
    (error) => self.log.error({ err: error }, "internal error"),
    self.clock,
    self.ids,
  );
}

/** Returns a bot that writes each turn to the terminal: the view as text, the number of legal actions, the action and the time. */
const withShownTurns = (bot: LoadedBot, clock: Clock): LoadedBot => ({
  ...bot,
  create(...given) {
    const inner = bot.create(...given);
    return {
      start: (info) => inner.start?.(info),
      choose: (turn) => showTurn(inner, turn, clock),
      end: (result) => inner.end?.(result),
      close: () => inner.close?.(),
    };
  },
});

async function showTurn(bot: BotObject, turn: Turn, clock: Clock): Promise<unknown> {
  const { game, role, view, legal, tick, rejection } = turn;
  const again = rejection === null ? "" : `, again: ${rejection}`;
  turn.log(`tick ${tick} as ${role}, ${legal.length} legal actions${again}`);
  for (const line of (findGame(game)?.toText(view, role) ?? "").split("\n")) turn.log(`  ${line}`);
  const began = clock.monotonic();
  const time = (): string => `${(clock.monotonic() - began).toFixed(1)} ms`;
  try {
    const action = await bot.choose(turn);
    turn.log(`tick ${tick}: ${JSON.stringify(action)} after ${time()}`);
    return action;
  } catch (thrown) {
    turn.log(`tick ${tick}: no action after ${time()}`);
    throw thrown;
  }
}
