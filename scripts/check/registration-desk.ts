import type { RequestListener } from "node:http";
import { z } from "zod";
import { evenOdd } from "#shared/games/even-odd.ts";
import type { Game } from "#shared/games/game.ts";
import { knownGames } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import { type Ids, isToken } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { mayContact, parseEndpoint } from "#shared/protocol/addresses.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { ANY_GAME, type PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import { foreignMessages } from "#shared/rpc/dialects/incoming.ts";
import type { LateAnswers } from "#shared/rpc/dialects/late-answers.ts";
import type { Listening, ListenOptions } from "#shared/rpc/http/http-server.ts";
import { type McpEndpoint, mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { type Answer, type Caller, toolsOf } from "#shared/rpc/mcp/operations.ts";
import type { Network } from "#shared/rpc/network.ts";
import { listen } from "#shared/runtime/agent-server.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { inboxEndpoint } from "../../league-manager/agents/registered-agent.ts";
import { playerRegistration } from "../../league-manager/api/agent-operations.ts";
import type { Registration } from "../../league-manager/api/agent-registration.ts";
import { ForeignRegistrations } from "../../league-manager/api/foreign-players.ts";
import { ALONE } from "../../league-manager/cluster/other-managers.ts";
import { inboxRoutes, inboxSocket, POLL_BYTES } from "../../league-manager/inbox/inbox-routes.ts";
import { Inboxes } from "../../league-manager/inbox/inboxes.ts";
import { answerHandlers } from "../../referee/match/player-messages.ts";
import { LEAGUE_ID } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import type { Subject } from "./subject.ts";

/** The requests of a player to the manager of the check. */
export interface RegistrationRecord {
  /** The last request of the player with its answer; null before the first one. */
  readonly last: Exchange | null;
  /** The payload of the accepted registration; null before it. */
  readonly accepted: PlayerRegisterRequest | null;
}

/** The manager of the check: it registers one player and answers nothing else. */
export interface RegistrationDesk {
  readonly url: string;
  readonly urls: readonly string[];
  readonly record: RegistrationRecord;
  /** Resolves with the player when a registration is accepted. */
  readonly registered: Promise<Subject>;
  /** Resolves at the first request that is not a page request. */
  readonly contacted: Promise<void>;
  close(): Promise<void>;
}

interface DeskOptions {
  readonly network: Network;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly host: string;
  /** The answers that a player of another dialect sends in separate requests. */
  readonly lateAnswers: LateAnswers;
  /** The ports to try; 0 for a free port of the system. */
  readonly ports: readonly number[];
}

const PLAYER_ID = "P01";
/** The league of the check, for players that name no games. */
const OPEN_LEAGUE = { leagueId: LEAGUE_ID, status: "open", game: evenOdd.id, entrants: new Map() } as const;

/** Opens the manager of the check. Throws StartError if no port is free. */
export async function openRegistrationDesk({
  network,
  clock,
  ids,
  host,
  ports,
  lateAnswers,
}: DeskOptions): Promise<RegistrationDesk> {
  const record: { last: Exchange | null; accepted: PlayerRegisterRequest | null } = { last: null, accepted: null };
  const registered = Promise.withResolvers<Subject>();
  const contacted = Promise.withResolvers<void>();
  const received = (exchange: Exchange): void => {
    if (record.accepted === null) record.last = exchange;
    contacted.resolve();
  };
  let known: Subject | null = null;
  const accept: Accept = (request, caller, dialect = NATIVE) => {
    const rejection = rejectionOf(request, caller);
    if (rejection !== null) return ok(rejected(rejection));
    const proposed = caller.authToken ?? "";
    const token = isToken(proposed) ? proposed : (known?.token ?? ids.token());
    record.accepted = request;
    const origin = caller.origin ?? server.url;
    known = {
      ...subjectOf(request, token, dialect),
      endpoint: request.contact_endpoint ?? `${server.url}/inbox/${PLAYER_ID}/mcp`,
      hasInbox: request.contact_endpoint == null,
      hasChosenToken: isToken(proposed),
      refereeEndpoint: `${origin}/mcp`,
    };
    registered.resolve(known);
    const inbox = known.hasInbox ? { inbox: `${origin}/inbox/${PLAYER_ID}` } : {};
    return ok({ ...accepted(token), ...inbox });
  };
  const inbox = checkInbox(() => known, clock, ids);
  const mcp = managerEndpoint(accept, () => known, { lateAnswers, network, clock, ids });
  const server: Listening = await listen(network, {
    host,
    ports,
    isReady: () => true,
    ...inbox.serving,
    log: { warn: (fields) => recordRejected(fields, received), error: () => {} },
    async handler(body, http) {
      const startedMs = clock.monotonic();
      const reply = await mcp.handler(body, http);
      const durationMs = Math.round(clock.monotonic() - startedMs);
      const about = { from: "player", method: "POST", url: "/mcp", request: body, durationMs } as const;
      const json = { status: reply.status, contentType: "application/json", body: reply.body };
      received({ ...about, reply: json, fault: null });
      return reply;
    },
    web: async () => otherPaths(received),
  });
  const { url, urls } = server;
  return {
    url,
    urls,
    record,
    registered: registered.promise,
    contacted: contacted.promise,
    async close() {
      inbox.close();
      await mcp.close();
      await server.close();
    },
  };
}

type Accept = (
  request: PlayerRegisterRequest,
  caller: Pick<Caller, "authToken" | "remoteAddress" | "origin">,
  dialect?: string,
) => Answer;

/** The endpoint of the manager: registrations in every dialect, and answers that players of other dialects send in separate requests. */
function managerEndpoint(
  accept: Accept,
  known: () => Subject | null,
  { lateAnswers, network, clock, ids }: Pick<DeskOptions, "lateAnswers" | "network" | "clock" | "ids">,
): McpEndpoint {
  const registration: Pick<Registration, "player" | "isFromEndpoint"> = {
    isFromEndpoint: (endpoint, remoteAddress) => network.comesFrom(endpoint, remoteAddress),
    player: async (request, caller, more) => accept(request, caller, more?.dialect),
  };
  const foreign = new ForeignRegistrations({
    takesPlayers: () => true,
    clock,
    creations: async () => null,
    registration,
    projections: {
      leagues: () => [OPEN_LEAGUE],
      agent() {
        const player = known();
        return player && { ...player, tokenHash: sha256Hex(player.token ?? "") };
      },
    },
  });
  const surface = {
    serverInfo: { name: "league check", version: VERSION },
    instructions: "This server registers the player that league check is to check.",
    tools: toolsOf([playerRegistration(registration)], () => "league_manager:LM01", clock, ids),
    resources: [],
    templates: [],
    answerForeign: foreignMessages(
      { ...answerHandlers(lateAnswers), register: (request, head, http) => foreign.register(request, head, http) },
      () => "league_manager",
      clock,
      ids,
    ),
  };
  return mcpEndpoint(surface, () => {}, clock, ids);
}

/** A request that was rejected before its body was read: its method or its content type is wrong, or its body is too large. */
const Rejected = z.object({ code: z.int().min(400).max(499), reason: z.string(), request: z.string() });

function recordRejected(fields: object, received: (exchange: Exchange) => void): void {
  const rejected = Rejected.safeParse(fields);
  if (!rejected.success) return;
  const { code, reason, request } = rejected.data;
  const [method = "", url = ""] = request.split(" ");
  const reply = { status: code, contentType: "application/json", body: reason };
  received({ from: "player", method, url, request: "", reply, fault: null, durationMs: 0 });
}

/** Answers requests to other paths than /mcp with 404, and records them unless they only read a page. */
const otherPaths =
  (received: (exchange: Exchange) => void): RequestListener =>
  (request, response) => {
    const { method = "GET", url = "/" } = request;
    let body = "";
    request.setEncoding("utf8").on("data", (text) => (body += text));
    request.on("end", () => {
      const text = "league check: send the registration by POST to /mcp\n";
      response.writeHead(404, { "content-type": "text/plain" }).end(text);
      const reply = { status: 404, contentType: "text/plain", body: text };
      if (method !== "GET") received({ from: "player", method, url, request: body, reply, fault: null, durationMs: 0 });
    });
  };

/** The reason why a registration is not accepted, as a manager would state it; null if it is accepted. */
function rejectionOf(
  { contact_endpoint, game_types }: PlayerRegisterRequest,
  { remoteAddress }: Pick<Caller, "remoteAddress">,
): string | null {
  const url = contact_endpoint == null ? null : parseEndpoint(contact_endpoint);
  if (contact_endpoint != null && !url) return "contact_endpoint is not an http URL";
  if (url && !mayContact(url, remoteAddress, { hosts: [], endpoints: [] })) {
    return `contact_endpoint must be at the address you register from (${remoteAddress})`;
  }
  return claimedGames(game_types).length > 0 ? null : "no league of your games is open";
}

const rejected = (reason: string) => ({
  player_id: null,
  status: "REJECTED",
  auth_token: null,
  league_ids: [],
  reason,
  error_code: protocolError("L001", reason).error_code,
});

const accepted = (auth_token: string) => ({
  player_id: PLAYER_ID,
  status: "ACCEPTED",
  auth_token,
  league_ids: [LEAGUE_ID],
  reason: null,
  error_code: null,
});

const subjectOf = (request: PlayerRegisterRequest, token: string, dialect: string) => ({
  name: request.display_name,
  playerId: PLAYER_ID,
  token,
  games: request.game_types,
  dialect,
  wantsLegalActions: request.legal_actions ?? true,
  wantsRoundResults: request.round_results ?? true,
  wantsAnnouncements: request.announcements ?? true,
  wantsDeltaViews: dialect === NATIVE && request.history === "delta",
});

interface CheckInbox {
  /** The interfaces of the inbox, as the manager of a league serves them. */
  readonly serving: Pick<ListenOptions, "posts" | "upgrade" | "bodyLimit">;
  close(): void;
}

/** The inbox of a player that registers without an endpoint. `known` returns the registered player. */
function checkInbox(known: () => Subject | null, clock: Clock, ids: Ids): CheckInbox {
  const inboxes = new Inboxes(clock, createRandom(ids.token()).next());
  const context = {
    ...ALONE,
    inboxes,
    projections: {
      agent(playerId: string) {
        const player = known();
        if (!player?.hasInbox || player.playerId !== playerId) return null;
        return { endpoint: inboxEndpoint(playerId, false), tokenHash: sha256Hex(player.token ?? "") };
      },
      authenticate(token: string | null) {
        const player = known();
        return player?.token && equalSecrets(token ?? "", player.token) ? { id: player.playerId } : null;
      },
    },
  };
  const serving = { posts: inboxRoutes(context), upgrade: inboxSocket(context), bodyLimit: () => POLL_BYTES };
  return { serving, close: () => inboxes.close() };
}

/** Returns whether a player that registers with a game type plays a game. The type may omit the version of the game. */
const isType = (type: string, { id }: Game): boolean => type === id || id.startsWith(`${type}.`);

/** Whether a player names a game in its game types. A player that does not name it may not know its rules. */
export const namesGame = (types: readonly string[], game: Game): boolean => types.some((type) => isType(type, game));

/** The games of the game types that a player registers with, in the order of the registry. */
export const claimedGames = (types: readonly string[]): readonly Game[] =>
  knownGames().filter((game) => types.includes(ANY_GAME) || namesGame(types, game));

/** The game types that name neither a game nor every game. */
export const unknownTypes = (types: readonly string[]): readonly string[] =>
  types.filter((type) => type !== ANY_GAME && !knownGames().some((game) => isType(type, game)));
