import { join } from "node:path";
import { gameIds } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { ok } from "#shared/lib/result.ts";
import * as messages from "#shared/protocol/messages.ts";
import { type JsonRpc, jsonRpc } from "#shared/rpc/json-rpc.ts";
import { mcpMethods } from "#shared/rpc/mcp.ts";
import { operation, toolsOf } from "#shared/rpc/operations.ts";
import { createPeers } from "#shared/rpc/peer.ts";
import { type Credentials, limitedDoor, REQUESTS_PER_MINUTE } from "#shared/rpc/rate-limit.ts";
import { type AgentProcess, listen, type RunningAgent } from "#shared/runtime/agent.ts";
import { register } from "#shared/runtime/registration.ts";
import { VERSION } from "#shared/runtime/version.ts";
import { webApp } from "#shared/runtime/web.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { SESSION_SCHEMA, sqliteLog } from "#shared/store/sqlite-log.ts";
import { threadWriter } from "#shared/store/writer.ts";
import { createHost } from "./host.ts";
import { holdsSeat, isManager, type RefereeDesk, refereeOperations, refereeTemplates } from "./operations.ts";
import { createReferee } from "./referee.ts";
import { MATCH_SCHEMA, matchTable } from "./tables.ts";

export interface RefereeOptions {
  /** Display name; null for one made from the port. */
  readonly name: string | null;
  readonly host: string;
  readonly ports: readonly number[];
  /** How others reach this agent; null for where it listens. */
  readonly endpoint?: string | null;
  readonly manager: string;
  readonly maxConcurrentMatches: number;
  readonly dataFolder: string;
  readonly registerTimeoutMs: number;
  readonly reportTimeoutMs: number;
  /** Whether callers on loopback without a token are held to the rate limit too. */
  readonly limitLoopback: boolean;
}

/** Starts a referee: its endpoint, its store, then its registration; matches that are still its own go on. */
export async function startReferee(options: RefereeOptions, self: AgentProcess): Promise<RunningAgent> {
  const identity = { id: "new", token: null as string | null };
  let rpc: JsonRpc;
  let isTrusted: (credentials: Credentials) => boolean = () => false;
  const server = await listen({
    host: options.host,
    ports: options.ports,
    door: limitedDoor((body, http) => rpc.answer(body, http), {
      perMinute: REQUESTS_PER_MINUTE.referee,
      loopback: options.limitLoopback,
      isTrusted: (credentials) => isTrusted(credentials),
    }),
    web: webApp({ isReady: () => identity.token !== null }),
  });

  // The store is named after the port, so it opens behind it; no request is read before this turn of the event loop ends.
  const file = join(options.dataFolder, `referee-${server.port}.sqlite`);
  const db = openSqlite(file, SESSION_SCHEMA + MATCH_SCHEMA);
  const writer = threadWriter(file, (reason) => {
    throw reason; // ends the process: a referee that cannot write must not ask
  });
  const name = options.name ?? `Referee ${server.port}`;
  const peers = createPeers();
  const host = createHost(sqliteLog(db, writer), systemClock);
  const referee = createReferee({
    host,
    matches: matchTable(db),
    peers,
    log: self.log,
    manager: options.manager,
    reportTimeoutMs: options.reportTimeoutMs,
    identity,
  });
  const desk = { host, referee, identity, maxConcurrentMatches: options.maxConcurrentMatches };
  rpc = endpointOf(desk, self);
  isTrusted = ({ token, subject }) => isManager(desk, token, subject) || holdsSeat(desk, token);
  self.say(`referee at ${server.url}/mcp`);
  self.report({ type: "ready", url: server.url });

  const stopping = new AbortController();
  const registering = (async () => {
    const { response, token } = await register({
      peers,
      manager: options.manager,
      type: "REFEREE_REGISTER_REQUEST",
      sender: `referee:${name}`,
      payload: {
        display_name: name,
        version: VERSION,
        game_types: gameIds,
        contact_endpoint: options.endpoint ?? `${server.url}/mcp`,
        max_concurrent_matches: options.maxConcurrentMatches,
      },
      response: messages.RefereeRegisterResponse,
      timeoutMs: options.registerTimeoutMs,
      tokenFile: join(options.dataFolder, "tokens", `referee-${server.port}`),
      self,
      signal: stopping.signal,
    });
    identity.id = response.referee_id ?? name;
    identity.token = token;
    self.say(`registered as ${identity.id}`);
    for (const order of response.matches ?? []) await referee.start(order);
  })();
  registering.catch((thrown) => {
    if (!stopping.signal.aborted) throw thrown; // ends the process with its message
  });

  return {
    async stop() {
      stopping.abort();
      await referee.stop();
      await server.close();
      await peers.close();
      await writer.close();
      db.close();
    },
  };
}

function endpointOf(desk: RefereeDesk & { readonly identity: { readonly id: string } }, self: AgentProcess): JsonRpc {
  const methods = mcpMethods({
    serverInfo: { name: "referee", version: VERSION },
    tools: toolsOf([...refereeOperations(desk), ...newsOperations()], () => `referee:${desk.identity.id}`),
    resources: [],
    templates: refereeTemplates(desk),
  });
  return jsonRpc(methods, (error) => self.log.error({ err: error }, "internal error"));
}

/** The manager's news, which a referee takes and needs not act on. */
const newsOperations = () => [
  operation({ request: "ROUND_ANNOUNCEMENT", reply: "ACK", payload: messages.RoundAnnouncement, handle: () => ok({}) }),
  operation({ request: "ROUND_START", reply: "ACK", payload: messages.RoundStart, handle: () => ok({}) }),
  operation({ request: "ROUND_END", reply: "ACK", payload: messages.RoundEnd, handle: () => ok({}) }),
  operation({
    request: "LEAGUE_STANDINGS_UPDATE",
    reply: "ACK",
    payload: messages.StandingsUpdate,
    handle: () => ok({}),
  }),
];
