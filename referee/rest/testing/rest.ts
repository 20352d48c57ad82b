/** Helpers for tests of the REST routes: runs of agents whose answers are compared with the model. */
import { expect, vi } from "vitest";
import type { Viewer } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { replay } from "#shared/session/replay.ts";
import type { Session } from "#shared/session/session.ts";
import * as documents from "../openapi.ts";
import type { Answer, TestAgent, TestHost } from "./host.ts";
import { answerTo, inSomeOrder } from "./model.ts";
import type { Observer } from "./observer.ts";
import {
  type ApiAnswer,
  type ApiRequest,
  type Exchange,
  isOver,
  type ModelSession,
  stateFor,
  viewerOf,
  type World,
} from "./world.ts";

/** Expects an answer with this status and error code, in the documented shape. */
export function expectRejection({ status, json }: Answer, expected: number, code: string): void {
  const { error } = documents.ErrorBody.parse(json);
  expect([status, error.code], error.message).toEqual([expected, code]);
}

/** Returns functions that act and read in sessions of a host. Answers must have the documented shape. */
export function sessionClient(host: TestHost) {
  const read = async (id: string, { token }: TestAgent, leaf: string) =>
    (await host.call("GET", `/sessions/${id}/${leaf}`, { token })).json;
  const act = (id: string, { token }: TestAgent, action: unknown, expected_tick?: number, key?: string) => {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    return host.call("POST", `/sessions/${id}/actions`, { token, headers, body: { action, expected_tick } });
  };
  return {
    act,
    state: async (id: string, agent: TestAgent) => documents.SessionState.parse(await read(id, agent, "state")),
    log: async (id: string, agent: TestAgent) => documents.SessionLog.parse(await read(id, agent, "log")).actions,
    /** Plays moves of white and black in turn. Fails if a move is rejected. */
    async play(id: string, [white, black]: readonly [TestAgent, TestAgent], moves: readonly string[]) {
      for (const [tick, move] of moves.entries()) {
        const { status, json } = await act(id, tick % 2 ? black : white, move, tick);
        expect([status, documents.ActionTaken.parse(json).tick]).toEqual([200, tick + 1]);
      }
    },
  };
}

interface RecordedExchange extends Exchange {
  /** The id of the calling agent; null for an unknown token. */
  readonly by: string | null;
  /** The text received on an event stream so far. */
  stream: string;
}

/** A run of agents at a host, with all requests and answers so far. */
export interface Run {
  /** The number of answers by status and code. */
  readonly answerCounts: Map<string, number>;
  readonly host: TestHost;
  readonly observer: Observer;
  readonly agents: readonly TestAgent[];
  /** The numbers of rows before the run. */
  readonly before: ReturnType<typeof sizes>;
  world: World;
  readonly requests: ApiRequest[];
  readonly exchanges: RecordedExchange[];
  /** Aborted at the end of the run. */
  readonly end: AbortController;
}

async function send(run: Run, request: ApiRequest): Promise<ApiAnswer> {
  const { method, path, token, body, key } = request;
  const headers = { authorization: `Bearer ${token}`, ...(key !== undefined && { "idempotency-key": key }) };
  const { signal } = run.end;
  const fetched = await fetch(run.host.url + path, { method, headers, signal, ...(body !== undefined && { body }) });
  const isStream = fetched.headers.get("content-type") === "text/event-stream";
  const answer = { status: fetched.status, text: isStream ? "" : await fetched.text() };
  const exchanged = { request, answer: answer, by: run.world.agents.get(token) ?? null, stream: "" };
  run.exchanges.push(exchanged);
  if (isStream && fetched.body) void recordStream(exchanged, fetched.body);
  const code = fetched.ok ? "" : ` ${JSON.parse(answer.text).error.code}`;
  run.answerCounts.set(`${answer.status}${code}`, (run.answerCounts.get(`${answer.status}${code}`) ?? 0) + 1);
  return answer;
}

async function recordStream(exchanged: RecordedExchange, body: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) exchanged.stream += decoder.decode(chunk, { stream: true });
  } catch {
    // The connection is closed at the end of the run.
  }
}

/** Sends requests concurrently. Fails unless the model explains the answers in some order, and then advances the world. */
export async function exchange(run: Run, requests: readonly ApiRequest[]): Promise<void> {
  const version = run.observer.version();
  const exchanges = await Promise.all(requests.map(async (request) => ({ request, answer: await send(run, request) })));
  const after = inSomeOrder(run.world, exchanges);
  if (after === null) {
    const details = exchanges.map((one) => ({
      ...one,
      expectedIfFirst: answerTo(run.world, one.request, one.answer).expected,
    }));
    throw new Error(`no order explains the answers: ${JSON.stringify(details, null, 1)}`);
  }
  if (after === run.world) expect(run.observer.version(), `${JSON.stringify(requests)} wrote`).toBe(version);
  run.world = after;
}

/** The numbers of rows that requests write. */
export function sizes({ value }: Observer) {
  const count = (name: string) => Number(value(`SELECT count(*) FROM ${name}`));
  return { log: count("log"), actions: count("actions"), sessions: count("sessions"), replies: count("replies") };
}

/** The session after each entry of its log in the database. */
function replayed({ observer, world }: Run, { id }: ModelSession): readonly Session[] {
  const rows = observer
    .rows("SELECT * FROM entries WHERE session_id = ? ORDER BY seq", id)
    .map(({ seq, type, body, prev_hash, hash }) => ({
      stream: id,
      seq: Number(seq),
      type: String(type),
      body: String(body),
      prev_hash: String(prev_hash),
      hash: String(hash),
    }));
  const sessions: Session[] = [];
  expect(replay(rows, world.seedOf(id), (session) => sessions.push(session)).ok).toBe(true);
  return sessions;
}

/** Expects that the logs in the database are complete and lead to the states that the host returns. */
export async function audit(run: Run): Promise<void> {
  const { observer, agents } = run;
  const sessions = [...run.world.sessions.values()];
  const accepted = sessions.reduce((sum, { log }) => sum + log.length, 0);
  expect(sizes(observer)).toEqual({
    log: run.before.log + accepted + sessions.length,
    actions: run.before.actions + accepted,
    sessions: run.before.sessions + sessions.length,
    replies: run.before.replies + run.world.replies.size,
  });
  for (const session of sessions) {
    const { tick, state, status } = replayed(run, session).at(-1) as Session;
    expect({ tick, state, isOver: status === "completed" }).toEqual({
      tick: session.tick,
      state: JSON.parse(JSON.stringify(session.state)),
      isOver: isOver(session),
    });
    // `exchange` compares the answers with the model, which is equal to the replayed log.
    const read = (leaf: string) =>
      agents.map(({ token }) => ({ method: "GET", path: `/sessions/${session.id}/${leaf}`, token }));
    await exchange(run, [...read("state"), ...read("log")]);
  }
}

const eventsOf = ({ stream }: RecordedExchange): readonly Shown[] =>
  stream
    .split("\n\n")
    .slice(0, -1)
    .flatMap((text) => /^data: (.*)$/m.exec(text)?.[1] ?? [])
    .map((data) => JSON.parse(data));

interface Shown {
  readonly tick: number;
  readonly status: string;
  readonly state: unknown;
  readonly legal_actions?: unknown;
  readonly actions?: readonly { readonly tick: number; readonly role: string }[];
}

/** Expects that each event stream has sent each state once, up to the last one. */
export async function expectCompleteStreams({ exchanges, world }: Run): Promise<void> {
  for (const one of exchanges.filter(
    ({ request, answer }) => request.path.includes("/events") && answer.status === 200,
  )) {
    const session = world.sessions.get(one.request.path.split("/")[2] ?? "") as ModelSession;
    const last = stateFor(session, viewerOf(session, String(one.by)) as Viewer);
    if (last.tick > 0)
      await vi.waitFor(() => expect(eventsOf(one).at(-1)).toEqual(last), { ...WAIT_OPTIONS, interval: 5 });
    const ticks = eventsOf(one).map(({ tick }) => tick);
    expect(ticks).toEqual([...new Set(ticks)].toSorted((a, b) => a - b));
  }
}

/** Expects that each answer contains only the view of its reader at that tick, and no secret of others. */
export function expectNoLeaks(run: Run): void {
  const { agents, exchanges, world } = run;
  const seeds = [...world.sessions.keys()].map(world.seedOf);
  const hashes = agents.map(({ token }) => sha256Hex(token));
  const sessions = new Map([...world.sessions.values()].map((session) => [session.id, replayed(run, session)]));
  for (const one of exchanges) {
    const { request, answer, by } = one;
    const others = agents.filter(({ agent_id }) => agent_id !== by).map(({ token }) => token);
    const text = answer.text + one.stream;
    const leaked = [...seeds, ...hashes, ...others].filter((secret) => text.includes(secret));
    if (leaked.length > 0) expect.unreachable(`${request.method} ${request.path} revealed a secret: ${text}`);
    const session = world.sessions.get(request.path.split("/")[2] ?? "");
    if (!session || by === null || answer.status !== 200) continue;
    const viewer = viewerOf(session, by) as Viewer;
    const steps = sessions.get(session.id) ?? [];
    const shown: readonly Shown[] = answer.text === "" ? eventsOf(one) : [JSON.parse(answer.text)];
    for (const { tick, status, state, legal_actions, actions } of shown) {
      if (actions) {
        // A log shows the entries of other roles only for turns that are closed in it.
        const closes = (at: number) => steps.find(({ turnTick }) => turnTick > at)?.tick ?? Number.POSITIVE_INFINITY;
        const others = actions.filter(({ role }) => role !== viewer);
        expect(others.filter((entry) => actions.length < closes(entry.tick))).toEqual([]);
        continue;
      }
      const step = steps[tick] as Session;
      expect([state, status]).toEqual([session.game.viewState(step.state, viewer), step.status]);
      if (legal_actions && viewer !== "spectator") {
        expect(legal_actions).toEqual(session.game.legalActions(step.state, viewer));
      }
    }
  }
}
