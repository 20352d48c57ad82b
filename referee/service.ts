import { join } from "node:path";
import type { Express } from "express";
import { gameIds } from "#shared/games/registry.ts";
import { flat } from "#shared/lib/text.ts";
import { hostsOf } from "#shared/protocol/addresses.ts";
import * as messages from "#shared/protocol/messages.ts";
import type { Listening } from "#shared/rpc/listen.ts";
import type { McpSurface } from "#shared/rpc/mcp.ts";
import { type McpEndpoint, mcpEndpoint } from "#shared/rpc/mcp-endpoint.ts";
import { toolsOf } from "#shared/rpc/operations.ts";
import { listenHostFor } from "#shared/rpc/own-addresses.ts";
import {
  CREATIONS_PER_MINUTE,
  type Credentials,
  creationLimit,
  REQUESTS_PER_MINUTE,
  rateLimit,
} from "#shared/rpc/rate-limit.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { contactEndpoint, placeName } from "#shared/runtime/contact.ts";
import { listen } from "#shared/runtime/listen.ts";
import { ownStore } from "#shared/runtime/own-store.ts";
import { register, takeToken } from "#shared/runtime/registration.ts";
import { ownSecret, tokenFileOf } from "#shared/runtime/secret-file.ts";
import { VERSION } from "#shared/runtime/version.ts";
import { webApp } from "#shared/runtime/web.ts";
import { threadWriter } from "#shared/store/writer.ts";
import { agentDirectory } from "./agents.ts";
import { CODENAMES_SCHEMA } from "./codenames/table.ts";
import { HOST_INSTRUCTIONS, LEAGUE_TOOLS, REFEREE_INSTRUCTIONS } from "./listing.ts";
import { createAsker } from "./match/ask.ts";
import type { MatchDriver } from "./match/driven-match.ts";
import { GAME_CREATIONS, isManager, newsOperations, type RefereeDesk, refereeOperations } from "./operations.ts";
import { createReferee } from "./referee.ts";
import { changedBy, gameRules, refereeTemplates } from "./resources.ts";
import type { Streams } from "./rest/streams.ts";
import { openPlayRoom, type PlayRoom } from "./room.ts";
import { createHost } from "./sessions/host.ts";
import { startHousekeeping } from "./sessions/housekeeping.ts";
import { REPLY_SCHEMA, sqliteReplies } from "./sessions/replies.ts";
import { SEAT_SCHEMA, seatTable } from "./sessions/seats.ts";
import { SESSION_SCHEMA, sessionStore } from "./sessions/session-store.ts";
import { createWaits } from "./sessions/waits.ts";
import { MATCH_SCHEMA, matchTable, sessionTable } from "./tables.ts";

export interface RefereeOptions {
  /** Display name; null for one made from where it is reached. */
  readonly name: string | null;
  /** The address to listen on; null: loopback for a manager on this machine or none, else every address. */
  readonly host: string | null;
  readonly ports: readonly number[];
  /** Name of the database file, without its extension; absent for one made from the port. */
  readonly storeName?: string;
  /** How others reach this agent; null for where it listens. */
  readonly endpoint?: string | null;
  /** The join code of the league; null if it has none. */
  readonly joinCode?: string | null;
  /** The league manager's endpoint; null for a session host alone. */
  readonly manager: string | null;
  /** A session acted by its seats expires when nobody has acted for so long. */
  readonly expireAfterMs: number;
  readonly maxConcurrentMatches: number;
  readonly dataFolder: string;
  readonly registerTimeoutMs: number;
  readonly reportTimeoutMs: number;
  /** Whether callers on loopback without a token are held to the rate limit too. */
  readonly limitLoopback: boolean;
  /** How long an MCP client in a session may take over one form or prompt; minutes without it. */
  readonly answerWithinMs?: number | undefined;
  /** Players that may be asked to play against agents and people here, by name: their endpoints. */
  readonly bots: ReadonlyMap<string, string>;
  /** How long a bot may take to answer; absent for the usual. */
  readonly botTimeouts?: messages.StartGame["timeouts"];
  /** Whether a person started this, at a terminal or in an MCP host, and a page may be opened in the browser. */
  readonly isAttended: boolean;
  /** Shows a line to the people at this host; absent for a line on stderr, which the log does not get: it may hold a secret. */
  readonly tellPeople?: (line: string) => void;
}

/**
 * Starts a referee: its endpoint, its store, then its registration; matches that are still its own go on. Without a manager it is a
 * session host alone.
 */
export async function startReferee(
  options: RefereeOptions,
  self: AgentProcess,
): Promise<RunningAgent & { readonly pages: string }> {
  const { manager } = options;
  const identity = { id: "new", token: null as string | null };
  let mcp: McpEndpoint;
  const open: Pick<Streams, "close">[] = [];
  let isTrusted: (credentials: Credentials) => boolean = () => false;
  const creations = creationLimit(CREATIONS_PER_MINUTE.referee, options.limitLoopback);
  const server = await listen(self.network, {
    log: self.log,
    host: options.host ?? listenHostFor(manager, self.network.interfaces()),
    allowedHosts: hostsOf(options.endpoint),
    ports: options.ports,
    handler: (body, http) => mcp.handler(body, http),
    sessions: () => mcp.sessions(),
    gate: rateLimit({
      perMinute: REQUESTS_PER_MINUTE.referee,
      loopback: options.limitLoopback,
      isTrusted: (credentials) => isTrusted(credentials),
      creations: { limit: creations, requests: GAME_CREATIONS },
    }),
    isReady: () => manager === null || identity.token !== null,
    web: webApp(self.log, routes),
  });

  /** Loaded when REST is first used: a referee of a league alone does without. */
  async function routes(app: Express): Promise<void> {
    const { restRoutes } = await import("./rest/routes.ts");
    const { createStreams } = await import("./rest/streams.ts");
    const { restState } = await import("./views/rest-views.ts");
    const streams = createStreams(host, { event: "state", view: restState }, self.clock);
    const pages = await room.pages();
    const { rejections } = server;
    const desk = {
      host,
      agents,
      sessions,
      replies,
      streams,
      waits,
      log: self.log,
      clock: self.clock,
      rejections,
      pages: pages.routes,
    };
    restRoutes({ ...desk, creations, limitLoopback: options.limitLoopback })(app);
    open.push(streams, pages.streams);
  }

  // The store may be named after the port, so it opens behind it; no request is read before this turn of the event loop ends.
  const file = join(options.dataFolder, `${options.storeName ?? `referee-${server.port}`}.sqlite`);
  const store = await orClose(server, () =>
    ownStore(file, SESSION_SCHEMA + MATCH_SCHEMA + REPLY_SCHEMA + SEAT_SCHEMA + CODENAMES_SCHEMA, self.clock),
  );
  const { db } = store;
  const writer = threadWriter(
    file,
    (reason) => {
      throw reason; // ends the process: a referee that cannot write must not ask
    },
    self.clock,
  );
  const peers = self.network.createPeers();
  const seats = seatTable(db);
  const host = createHost(
    sessionStore(db, writer),
    self.clock,
    (session) => mcp.changed(() => [...changedBy(desk, session), ...room.changedBy(session)]),
    (err, session) => self.log.error({ err, session }, "a listener failed after a commit"),
    seats.open,
  );
  const waits = createWaits(host, self.clock);
  const agents = agentDirectory(db, writer, self.clock);
  const sessions = sessionTable(db);
  const replies = sqliteReplies(db, writer, self.clock);
  const driver: MatchDriver = {
    host,
    asker: createAsker(peers, () => flat("referee:", identity.id), self.clock),
    clock: self.clock,
    onFault: ({ playerId, endpoint }, { code, cause, detail, systemMessage }, request) =>
      server.rejections.write(endpoint.split("?", 1)[0] ?? "", {
        code,
        reason: `${cause}: ${detail}${systemMessage ? ` (${systemMessage})` : ""}`,
        agent: `player:${playerId}`,
        request,
      }),
  };
  const referee = createReferee({
    driver,
    matches: matchTable(db, writer),
    peers,
    log: self.log,
    manager: manager ?? "",
    reportTimeoutMs: options.reportTimeoutMs,
    identity,
    onTokensChanged: agents.forgetHolders,
  });
  const pages = options.endpoint?.replace(/\/mcp$/, "") ?? server.urls[0] ?? server.url;
  const room = openPlayRoom({
    ...{ db, writer, agents, seats, sessions, replies, waits, self },
    driver,
    url: pages,
    bots: options.bots,
    botTimeouts: options.botTimeouts,
    dataFolder: options.dataFolder,
    isAttended: options.isAttended,
    tellPeople: options.tellPeople ?? ((line) => void process.stderr.write(`${line}\n`)),
  });
  const { maxConcurrentMatches } = options;
  const desk = { host, referee, identity, maxConcurrentMatches, play: room.play };
  const stateKey = ownSecret(join(options.dataFolder, "tokens", `rounds-${options.storeName ?? server.port}`));
  const listing =
    manager === null
      ? { instructions: HOST_INSTRUCTIONS, unlisted: LEAGUE_TOOLS }
      : { instructions: REFEREE_INSTRUCTIONS };
  mcp = endpointOf(desk, room, { stateKey, answerWithinMs: options.answerWithinMs, ...listing }, self);
  isTrusted = ({ token, subject }) => isManager(desk, token, subject) || room.isSeated(token);
  const { expireAfterMs } = options;
  const stopHousekeeping = startHousekeeping({ host, replies, expireAfterMs, log: self.log, clock: self.clock });
  self.say(manager === null ? `session host at ${server.urls.join(", ")}` : `referee at ${server.urls[0]}/mcp`);
  self.report({ type: "ready", url: server.url });

  room.open();
  const stopping = new AbortController();
  const registering = manager === null ? null : registerReferee(options, manager, server);
  registering?.catch((thrown) => {
    if (!stopping.signal.aborted) throw thrown; // ends the process with its message
  });

  async function registerReferee(
    { name, endpoint = null, joinCode, maxConcurrentMatches, registerTimeoutMs, dataFolder }: RefereeOptions,
    manager: string,
    server: Listening,
  ): Promise<void> {
    const timeoutMs = registerTimeoutMs;
    const { signal } = stopping;
    const contact = await contactEndpoint({ manager, server, endpoint, timeoutMs, self, signal });
    const display_name = name ?? `Referee ${placeName(contact)}`;
    const sender = `referee:${display_name}`;
    const tokenFile = tokenFileOf(dataFolder, "referee", String(server.port));
    const { response, token } = await register({
      peers,
      manager,
      type: "REFEREE_REGISTER_REQUEST",
      sender,
      payload: {
        display_name,
        version: VERSION,
        game_types: gameIds,
        contact_endpoint: contact,
        ...(joinCode && { join_code: joinCode }),
        max_concurrent_matches: maxConcurrentMatches,
      },
      response: messages.RefereeRegisterResponse,
      timeoutMs,
      token: takeToken(tokenFile, sender, signal),
      tokenFile,
      self,
      signal,
    });
    identity.id = response.referee_id ?? display_name;
    identity.token = token;
    self.say(`registered as ${identity.id}`);
    for (const order of response.matches ?? []) await referee.start(order);
  }

  return {
    pages,
    async stop() {
      stopping.abort();
      stopHousekeeping();
      for (const streams of open) streams.close();
      waits.close();
      await room.close();
      await mcp.close();
      await referee.stop();
      await server.close();
      await peers.close();
      await writer.close();
      store.close();
    },
  };
}

/** What is opened behind a server's port; when it cannot be, nobody is answered there any more. */
async function orClose<T>(server: Listening, open: () => T): Promise<T> {
  try {
    return open();
  } catch (thrown) {
    await server.close();
    throw thrown;
  }
}

function endpointOf(
  desk: RefereeDesk & { readonly identity: { readonly id: string } },
  room: PlayRoom,
  given: Pick<McpSurface, "stateKey" | "answerWithinMs" | "instructions" | "unlisted">,
  self: AgentProcess,
) {
  const surface = {
    serverInfo: { name: "referee", version: VERSION },
    tools: toolsOf(
      [...refereeOperations(desk), ...room.operations, ...newsOperations()],
      () => flat("referee:", desk.identity.id),
      self.clock,
    ),
    resources: [...room.resources, ...gameRules()],
    templates: [...room.templates, ...refereeTemplates(desk)],
    ...given,
  };
  return mcpEndpoint(surface, (error) => self.log.error({ err: error }, "internal error"), self.clock);
}
