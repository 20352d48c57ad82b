/**
 * A model of the session host for tests, which implements the documented API. It uses the rules of the games and no code of the host.
 */
import { isDeepStrictEqual } from "node:util";
import { act, create } from "./commands.ts";
import {
  type ApiAnswer,
  type ApiRequest,
  type Code,
  type Exchange,
  type Expected,
  listOf,
  logFor,
  rejection,
  type Step,
  stateFor,
  viewerOf,
  type World,
} from "./world.ts";

const ROUTES =
  /^(POST \/sessions|GET \/sessions|GET \/sessions\/[^/]+\/(state|log|events)|POST \/sessions\/[^/]+\/actions)$/;
const OPEN = /^GET \/(health|ready|metrics|openapi\.json)$/;
const WHOLE = /^\d{1,9}$/;

/** Returns the answer that the host must give, and the world after it. From `answer` only the id of a new session is used. */
export function answerTo(world: World, request: ApiRequest, answer: ApiAnswer): Step {
  const rejected = (code: Code) => rejection(world, code);
  const reply = (body: unknown, status = 200): Step => ({ expected: { status, body }, world });
  const url = new URL(request.path, "http://host");
  const route = `${request.method} ${url.pathname}`;
  if (OPEN.test(route)) return reply(undefined);
  if (!ROUTES.test(route)) return rejected("NOT_FOUND");
  const me = world.agents.get(request.token);
  if (me === undefined) return rejected("UNAUTHORIZED");
  const [, , id, leaf = request.method] = url.pathname.split("/");
  if (leaf === "GET") {
    if ((url.searchParams.get("agent_id") ?? me) !== me) return rejected("FORBIDDEN");
    return reply({ sessions: listOf(world, me) });
  }
  if (leaf === "POST") return once(world, request, me, () => create(world, request, me, answer));
  const session = world.sessions.get(id ?? "");
  if (!session) return rejected("NOT_FOUND");
  const viewer = viewerOf(session, me);
  if (viewer === null) return rejected("FORBIDDEN");
  if (leaf === "events") return reply(undefined);
  if (leaf === "log") return reply({ actions: logFor(session, viewer) });
  if (leaf === "actions") {
    if (viewer === "spectator") return rejected("FORBIDDEN");
    return once(world, request, me, () => act(world, request, session, viewer));
  }
  const queries = ["wait_after_tick", "timeout_s"].map((name) => url.searchParams.get(name) ?? "0");
  if (!queries.every((text) => WHOLE.test(text))) return rejected("INVALID_REQUEST");
  return reply(stateFor(session, viewer));
}

/** The step of a request with an idempotency key: a known key returns the first reply for the same request and is rejected for another one. */
function once(world: World, { method, path, body = "", key }: ApiRequest, me: string, perform: () => Step): Step {
  if (key === undefined) return perform();
  const invalid = rejection(world, "INVALID_REQUEST");
  if (key.length < 1 || key.length > 200) return invalid;
  const name = JSON.stringify([me, key]);
  const request = `${method} ${path} ${body}`;
  const known = world.replies.get(name);
  if (known) {
    if (known.request !== request) return invalid;
    return { expected: { status: known.answer.status, body: JSON.parse(known.answer.text) }, world };
  }
  const { expected, world: after } = perform();
  if (expected.code !== undefined) return { expected, world };
  const first = { request, answer: { status: expected.status, text: JSON.stringify(expected.body) } };
  return { expected, world: { ...after, replies: new Map(after.replies).set(name, first) } };
}

/** Whether an answer is the expected one. The order of lists is ignored. */
function agrees({ status, code, body }: Expected, answer: ApiAnswer): boolean {
  if (status !== answer.status) return false;
  if (code !== undefined) return JSON.parse(answer.text).error.code === code;
  return body === undefined || isDeepStrictEqual(plain(body), plain(JSON.parse(answer.text)));
}

interface Listed {
  readonly session_id: unknown;
}

/** The body after serialization, without times and with a sorted list of sessions. */
function plain(body: unknown): unknown {
  const json = JSON.parse(JSON.stringify(body, (key, value) => (key === "created_at" ? undefined : value)));
  if (!Array.isArray(json.sessions)) return json;
  return {
    sessions: json.sessions.toSorted((a: Listed, b: Listed) => (String(a.session_id) < String(b.session_id) ? -1 : 1)),
  };
}

/** Returns the world after these exchanges in an order that explains every answer; null if there is no such order. */
export function inSomeOrder(world: World, exchanges: readonly Exchange[]): World | null {
  if (exchanges.length === 0) return world;
  for (const [index, { request, answer }] of exchanges.entries()) {
    const step = answerTo(world, request, answer);
    if (!agrees(step.expected, answer)) continue;
    const after = inSomeOrder(step.world, exchanges.toSpliced(index, 1));
    if (after) return after;
  }
  return null;
}
