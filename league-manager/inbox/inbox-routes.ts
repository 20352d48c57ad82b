import { z } from "zod";
import { equalSecrets } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { jsonOf, parsedJson } from "#shared/lib/text.ts";
import { id } from "#shared/protocol/message-fields.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { UpgradeHandler } from "#shared/rpc/http/upgrade.ts";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import type { MessageSocket } from "#shared/rpc/websocket/message-socket.ts";
import { type Agent, inboxOwnerOf, isHosted } from "../agents/registered-agent.ts";
import type { OtherManagers } from "../cluster/other-managers.ts";
import type { Inboxes } from "./inboxes.ts";

/** The largest body of a poll: several answers of 256 kB. */
export const POLL_BYTES = 1024 * 1024;

/** The HTTP interface of the inboxes: `POST /inbox/P07` for the player, `POST /inbox/P07/mcp` for referees (PROTOCOL.md, section 2, Inbox). */
export function inboxRoutes(context: InboxContext) {
  return {
    isAt: (path: string): boolean => inboxAt(path) !== null,
    async handler(body: string, http: HttpContext): Promise<HttpReply> {
      const inbox = inboxAt(http.target ?? "");
      if (!inbox) throw new Error(`no inbox at ${http.target}`);
      const { playerId, face } = inbox;
      if (face === "attended") return attended(context, playerId, http);
      // The inbox is at another manager, or moves at the moment. The caller repeats the request.
      if (context.homes.of(playerId) !== "here") return REFUSED;
      return face === "mcp" ? deliver(context, playerId, body, http) : poll(context, playerId, body, http);
    },
    /** Whether a request is a question that another manager asks on its own behalf. */
    isOfManager: ({ target = "", isPassedOn }: HttpContext): boolean =>
      isPassedOn === true && inboxAt(target)?.face === "attended",
    /** Whether a token is the signature of a message to the player of this inbox. */
    isSigned(target: string, token: string, subject: string | null): boolean {
      const inbox = inboxAt(target);
      const player = inbox?.face === "mcp" ? ownerOf(context, inbox.playerId) : null;
      return player !== null && subject !== null && equalSecrets(token, signFor(player.tokenHash, subject));
    },
  };
}

const Request = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string().max(200), z.number()]),
  method: z.literal("tools/call"),
  params: z.looseObject({
    name: z.literal("league_message"),
    arguments: z.looseObject({
      auth_token: z.string().max(1000).nullish(),
      payload: z.looseObject({ league_id: id, match_id: id.nullish() }),
    }),
  }),
});

/** Puts a message of a referee into the inbox, and answers with the answer of the player. Only messages that are signed for the player are accepted. */
async function deliver(context: InboxContext, playerId: string, body: string, http: HttpContext): Promise<HttpReply> {
  const request = Request.safeParse(parsedJson(body));
  if (!request.success) {
    return rpcError(400, null, -32600, "an inbox accepts single calls of league_message about a league or match");
  }
  const { id: callerId, method, params } = request.data;
  const { auth_token, payload } = params.arguments;
  const subject = payload.match_id == null ? payload.league_id : matchRef(payload.league_id, payload.match_id);
  const isSigned = (): boolean => {
    const player = ownerOf(context, playerId);
    return player !== null && equalSecrets(auth_token ?? "", signFor(player.tokenHash, subject));
  };
  // Without the database a signature with a new token cannot be checked.
  if (!isSigned() && !(await context.catchUp())) return REFUSED;
  if (!isSigned()) {
    const reason = `the message is not signed for a player with the inbox ${playerId}`;
    http.logRejection?.({ code: "L004", reason, request: `POST ${http.target}` });
    return rpcError(200, callerId, -32000, `L004: ${reason}`);
  }
  const asked = await context.inboxes.ask(playerId, { method, params }, http.abortSignal?.() ?? NEVER);
  if (asked.kind !== "answered") return REFUSED;
  const { result, error } = asked.answer;
  const answer = jsonOf({ jsonrpc: "2.0", id: callerId, ...(error == null ? { result } : { error }) });
  return answer === "" ? rpcError(200, callerId, -32603, "the answer cannot be read") : { status: 200, body: answer };
}

/** Answers another manager whether the player polls its inbox. */
function attended({ inboxes }: InboxContext, playerId: string, { isPassedOn }: HttpContext): HttpReply {
  if (!isPassedOn) return rejection(404, "NOT_FOUND", "No such request");
  return { status: inboxes.isAttended(playerId) ? 200 : 503, body: "{}" };
}

/** Closes the connection, so that the caller repeats the request as after a refused connection. */
const REFUSED: HttpReply = { status: 503, body: "", isRefused: true };

const NEVER = new AbortController().signal;

const Query = z.object({
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
  wait_s: z.coerce.number().min(0).max(60).default(25),
});

/** Takes the answers of a player and replies with its open requests. */
async function poll(context: InboxContext, playerId: string, body: string, http: HttpContext): Promise<HttpReply> {
  const { inboxes } = context;
  const rejected = await rejectionOf(context, playerId, http);
  // The inbox may have moved meanwhile.
  if (rejected === "unknown" || context.homes.of(playerId) !== "here") return REFUSED;
  if (rejected) {
    http.logRejection?.({ code: rejected.status, reason: rejected.message, request: `POST /inbox/${playerId}` });
    return rejection(rejected.status, rejected.code, rejected.message);
  }
  const { searchParams } = new URL(http.target ?? "", "http://inbox");
  const query = Query.safeParse(Object.fromEntries(searchParams));
  if (!query.success) {
    return rejection(
      400,
      "INVALID_REQUEST",
      "after must be a whole number, and wait_s a number of seconds from 0 to 60",
    );
  }
  const elements = body === "" ? [] : parsedJson(body);
  if (!Array.isArray(elements)) {
    return rejection(400, "INVALID_REQUEST", "the body must be a JSON array of JSON-RPC responses, which may be empty");
  }
  const ignored = inboxes.answer(playerId, elements);
  const { after, wait_s } = query.data;
  const signal = http.abortSignal?.() ?? NEVER;
  const polled = await inboxes.poll(playerId, { after, waitMs: wait_s * 1000, signal });
  if (polled === "replaced") return rejection(409, "CONFLICT", "a newer poll of this inbox has replaced this one");
  if (polled === "closed") return REFUSED;
  const { next, requests } = polled;
  // The requests are JSON texts already.
  const reply = `{"next":${next},"requests":[${requests.join(",")}],"ignored":${JSON.stringify(ignored)}}`;
  return { status: 200, body: reply };
}

const rejection = (status: number, code: string, message: string): HttpReply => ({
  status,
  body: JSON.stringify({ error: { code, message } }),
});

const rpcError = (status: number, id: string | number | null, code: number, message: string): HttpReply => ({
  status,
  body: JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }),
});

/** Codes of closed WebSockets (RFC 6455, section 7.4; codes from 4000 are free for applications). */
const INVALID_DATA = 1007;
const RESTART = 1012;
const REPLACED = 4409;

/** The time after which the wait for requests is renewed. The WebSocket itself is checked with pings. */
const WAIT_MS = 60_000;

const MOVING = { status: 503, code: "UNAVAILABLE", message: "the inbox is at another manager: connect again" };

const UNKNOWN = { status: 503, code: "UNAVAILABLE", message: "the database does not answer: connect again" };

/** Accepts a WebSocket at the URL of an inbox: one JSON-RPC message a frame, requests to the player and responses from it. */
export const inboxSocket =
  (context: InboxContext): UpgradeHandler =>
  async ({ path, query, http }) => {
    const inbox = inboxAt(path);
    if (inbox?.face !== "poll") return null;
    const { playerId } = inbox;
    if (context.homes.of(playerId) !== "here") return MOVING;
    const rejection = await rejectionOf(context, playerId, http);
    if (rejection === "unknown") return UNKNOWN;
    if (context.homes.of(playerId) !== "here") return MOVING; // meanwhile
    if (rejection) return rejection;
    return {
      accept(socket) {
        const closed = new AbortController();
        void sendRequests(context, playerId, Number(query.get("after") ?? 0) || 0, socket, closed.signal);
        return {
          onMessage: (text) => receive(context, playerId, text, socket),
          onClose: () => closed.abort(),
        };
      },
    };
  };

/** Sends the open requests above `after` and each later one, until the WebSocket closes or a newer poll replaces it. */
async function sendRequests(
  { inboxes }: InboxContext,
  playerId: string,
  after: number,
  socket: MessageSocket,
  signal: AbortSignal,
): Promise<void> {
  let last = after;
  while (!signal.aborted) {
    const polled = await inboxes.poll(playerId, { after: last, waitMs: WAIT_MS, signal });
    if (polled === "replaced") return socket.close(REPLACED, "a newer connection to this inbox has replaced this one");
    if (polled === "closed") return socket.close(RESTART, "the inbox is closed: connect again");
    for (const request of polled.requests) socket.send(request);
    last = polled.next;
  }
}

function receive({ inboxes }: InboxContext, playerId: string, text: string, socket: MessageSocket): void {
  const message = parsedJson(text);
  if (message === undefined) socket.close(INVALID_DATA, "send one JSON-RPC response a frame");
  else inboxes.answer(playerId, Array.isArray(message) ? message : [message]);
}

/** A player as the interfaces of its inbox know it. */
type InboxOwner = Pick<Agent, "endpoint" | "tokenHash">;

/** The parts of the manager that the interfaces of an inbox use. */
export interface InboxContext extends OtherManagers {
  readonly inboxes: Inboxes;
  readonly projections: {
    agent(playerId: string): InboxOwner | null;
    authenticate(token: string | null): { readonly id: string } | null;
  };
}

const PATH = /^\/inbox\/([^/]+?)(?:\/(mcp|attended))?$/;

/**
 * The inbox that a path denotes, and its interface: `poll` for the player, `mcp` for referees, and `attended` for other managers, which find out whether
 * the player polls.
 */
interface InboxPath {
  readonly playerId: string;
  readonly face: "poll" | "mcp" | "attended";
}

/** Returns the inbox that a path denotes; null for any other path. A query is ignored. */
function inboxAt(target: string): InboxPath | null {
  const [, playerId, face = "poll"] = PATH.exec(target.split("?", 1)[0] ?? "") ?? [];
  return playerId === undefined ? null : { playerId, face: face as InboxPath["face"] };
}

/** Returns the player whose home answers a request; null for any other path, and for a question of another manager, which goes to the home itself. */
export function playerAt(path: string): string | null {
  const inbox = inboxAt(path);
  return inbox === null || inbox.face === "attended" ? null : inbox.playerId;
}

/** Returns the player with this id if it has an inbox, else null. */
function ownerOf({ projections }: InboxContext, playerId: string): InboxOwner | null {
  const player = projections.agent(playerId);
  return player && inboxOwnerOf(player.endpoint) === playerId ? player : null;
}

interface Rejection {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/**
 * Resolves with the reason why a caller may not use the inbox of a player, or null if the caller is that player. A caller with a token that may have
 * registered at another manager a moment ago waits for the commits of that manager; "unknown" if the database does not answer.
 */
async function rejectionOf(
  context: InboxContext,
  playerId: string,
  http: Pick<HttpContext, "bearer">,
): Promise<Rejection | "unknown" | null> {
  const rejection = knownRejectionOf(context, playerId, http);
  if (!rejection || http.bearer === null) return rejection;
  return (await context.catchUp()) ? knownRejectionOf(context, playerId, http) : "unknown";
}

function knownRejectionOf(
  context: InboxContext,
  playerId: string,
  { bearer }: Pick<HttpContext, "bearer">,
): Rejection | null {
  if (context.projections.authenticate(bearer)?.id !== playerId) {
    return { status: 401, code: "UNAUTHORIZED", message: "send the player's token as Authorization: Bearer" };
  }
  const owner = ownerOf(context, playerId);
  if (owner && !isHosted(owner.endpoint)) return null;
  if (owner) {
    const message = `${playerId} plays by the tools or the page of the manager: register again with contact_endpoint null`;
    return { status: 409, code: "CONFLICT", message };
  }
  const message = `${playerId} has no inbox: register again with contact_endpoint null`;
  return { status: 404, code: "NOT_FOUND", message };
}
