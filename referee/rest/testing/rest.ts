/** What the tests of the REST routes share: a look at the database from outside, and a run of agents whose every answer is held against the model. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, vi } from "vitest";
import type { Viewer } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { RecordedEvent } from "#shared/lib/hash-chain.ts";
import { PATIENCE } from "#shared/lib/testing/patience.ts";
import { replay } from "#shared/session/replay.ts";
import type { Session } from "#shared/session/session.ts";
import * as documents from "../documents.ts";
import type { Answer, TestAgent, TestHost } from "./host.ts";
import { answerTo, inSomeOrder } from "./model.ts";
import { type Asked, type Exchange, type Got, isOver, stateFor, type Table, viewerOf, type World } from "./world.ts";

/** A second connection to a host's database. */
export interface Observer {
  // biome-ignore lint/suspicious/noExplicitAny: the rows of any query
  rows(sql: string, ...parameters: readonly string[]): any[];
  /** Every row of every table as text. */
  dump(): string;
  /** Grows with each commit of any other connection. */
  version(): number;
  close(): void;
}

export const databaseOf = ({ dataFolder, port }: { readonly dataFolder: string; readonly port: number }): string =>
  join(dataFolder, `referee-${port}.sqlite`);

export function observe(host: { readonly dataFolder: string; readonly port: number }): Observer {
  const db = new DatabaseSync(databaseOf(host), { readOnly: true });
  const rows: Observer["rows"] = (sql, ...parameters) => db.prepare(sql).all(...parameters);
  return {
    rows,
    dump() {
      const names = rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map(({ name }) => name);
      return JSON.stringify(names.map((name) => [name, rows(`SELECT * FROM "${name}" ORDER BY 1, 2`)]));
    },
    version: () => Number(rows("PRAGMA data_version")[0].data_version),
    close: () => db.close(),
  };
}

/** Fails unless an answer is this refusal, in the document's form. */
export function refused({ status, json }: Answer, expected: number, code: string): void {
  const { error } = documents.ErrorBody.parse(json);
  expect([status, error.code], error.message).toEqual([expected, code]);
}

/** What two players of a host do, and what it shows them; every answer must have the document's shape. */
export function tableOf(host: TestHost) {
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
    /** Plays moves of white and black in turn, each of which must be taken. */
    async play(id: string, [white, black]: readonly [TestAgent, TestAgent], moves: readonly string[]) {
      for (const [tick, move] of moves.entries()) {
        const { status, json } = await act(id, tick % 2 ? black : white, move, tick);
        expect([status, documents.ActionTaken.parse(json).tick]).toEqual([200, tick + 1]);
      }
    },
  };
}

interface Heard extends Exchange {
  /** Agent id; null with a token that is nobody's. */
  readonly by: string | null;
  /** What has come on an event stream so far. */
  stream: string;
}

/** Agents at a host, and what has happened so far. */
export interface Run {
  /** How often each status and code was answered. */
  readonly seen: Map<string, number>;
  readonly host: TestHost;
  readonly observer: Observer;
  readonly agents: readonly TestAgent[];
  /** How many rows there were before it. */
  readonly before: ReturnType<typeof sizes>;
  world: World;
  readonly asked: Asked[];
  readonly heard: Heard[];
  readonly hangUp: AbortController;
}

async function send(run: Run, asked: Asked): Promise<Got> {
  const { method, path, token, body, key } = asked;
  const headers = { authorization: `Bearer ${token}`, ...(key !== undefined && { "idempotency-key": key }) };
  const { signal } = run.hangUp;
  const response = await fetch(run.host.url + path, { method, headers, signal, ...(body !== undefined && { body }) });
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const got = { status: response.status, text: isStream ? "" : await response.text() };
  const heard = { asked, got, by: run.world.agents.get(token) ?? null, stream: "" };
  run.heard.push(heard);
  if (isStream && response.body) void listen(heard, response.body);
  const code = response.ok ? "" : ` ${JSON.parse(got.text).error.code}`;
  run.seen.set(`${got.status}${code}`, (run.seen.get(`${got.status}${code}`) ?? 0) + 1);
  return got;
}

async function listen(heard: Heard, body: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) heard.stream += decoder.decode(chunk, { stream: true });
  } catch {
    // Hung up at the end of the run.
  }
}

/** Sends requests at once and goes to a world that explains all answers. */
export async function exchange(run: Run, asked: readonly Asked[]): Promise<void> {
  const version = run.observer.version();
  const exchanges = await Promise.all(asked.map(async (one) => ({ asked: one, got: await send(run, one) })));
  const after = inSomeOrder(run.world, exchanges);
  if (after === null) {
    const told = exchanges.map((one) => ({
      ...one,
      expectedIfFirst: answerTo(run.world, one.asked, one.got).expected,
    }));
    throw new Error(`no order explains the answers: ${JSON.stringify(told, null, 1)}`);
  }
  if (after === run.world) expect(run.observer.version(), `${JSON.stringify(asked)} wrote`).toBe(version);
  run.world = after;
}

/** How many rows the tables have that requests write to. */
export function sizes({ rows }: Observer) {
  const count = (table: string) => Number(rows(`SELECT count(*) AS n FROM ${table}`)[0].n);
  return { log: count("log"), actions: count("actions"), sessions: count("sessions"), replies: count("replies") };
}

/** What the log in the database says of a session, entry by entry. */
function replayed({ observer, world }: Run, { id }: Table): readonly Session[] {
  const rows: RecordedEvent[] = observer.rows(
    "SELECT session_id AS stream, * FROM entries WHERE session_id = ? ORDER BY seq",
    id,
  );
  const sessions: Session[] = [];
  expect(replay(rows, world.seedOf(id), (session) => sessions.push(session)).ok).toBe(true);
  return sessions;
}

/** Logs are whole, and lead to what everybody is shown. */
export async function audit(run: Run): Promise<void> {
  const { observer, agents } = run;
  const tables = [...run.world.tables.values()];
  const accepted = tables.reduce((sum, { log }) => sum + log.length, 0);
  expect(sizes(observer)).toEqual({
    log: run.before.log + accepted + tables.length,
    actions: run.before.actions + accepted,
    sessions: run.before.sessions + tables.length,
    replies: run.before.replies + run.world.replies.size,
  });
  for (const table of tables) {
    const { tick, state, status } = replayed(run, table).at(-1) as Session;
    expect({ tick, state, isOver: status === "completed" }).toEqual({
      ...{ tick: table.tick, state: JSON.parse(JSON.stringify(table.state)), isOver: isOver(table) },
    });
    // `exchange` holds what is shown against the table that the replayed log was found equal to.
    const read = (leaf: string) =>
      agents.map(({ token }) => ({ method: "GET", path: `/sessions/${table.id}/${leaf}`, token }));
    await exchange(run, [...read("state"), ...read("log")]);
  }
}

const eventsOf = ({ stream }: Heard): readonly Shown[] =>
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

/** Every stream has told its viewer each step once, up to the last. */
export async function streamsAreWhole({ heard, world }: Run): Promise<void> {
  for (const one of heard.filter(({ asked, got }) => asked.path.includes("/events") && got.status === 200)) {
    const table = world.tables.get(one.asked.path.split("/")[2] ?? "") as Table;
    const last = stateFor(table, viewerOf(table, String(one.by)) as Viewer);
    if (last.tick > 0) await vi.waitFor(() => expect(eventsOf(one).at(-1)).toEqual(last), { ...PATIENCE, interval: 5 });
    const ticks = eventsOf(one).map(({ tick }) => tick);
    expect(ticks).toEqual([...new Set(ticks)].toSorted((a, b) => a - b));
  }
}

/** Whatever anybody received shows what its reader might see at that tick, and no secret of anybody else. */
export function nothingLeaked(run: Run): void {
  const { agents, heard, world } = run;
  const seeds = [...world.tables.keys()].map(world.seedOf);
  const hashes = agents.map(({ token }) => sha256Hex(token));
  const sessions = new Map([...world.tables.values()].map((table) => [table.id, replayed(run, table)]));
  for (const one of heard) {
    const { asked, got, by } = one;
    const others = agents.filter(({ agent_id }) => agent_id !== by).map(({ token }) => token);
    const text = got.text + one.stream;
    const told = [...seeds, ...hashes, ...others].filter((secret) => text.includes(secret));
    if (told.length > 0) expect.unreachable(`${asked.method} ${asked.path} told a secret: ${text}`);
    const table = world.tables.get(asked.path.split("/")[2] ?? "");
    if (!table || by === null || got.status !== 200) continue;
    const viewer = viewerOf(table, by) as Viewer;
    const steps = sessions.get(table.id) ?? [];
    const shown: readonly Shown[] = got.text === "" ? eventsOf(one) : [JSON.parse(got.text)];
    for (const { tick, status, state, legal_actions, actions } of shown) {
      if (actions) {
        // Of a turn that was open then, no entry of another role: it shows all of a turn or none of it but one's own.
        const closes = (at: number) => steps.find(({ turnTick }) => turnTick > at)?.tick ?? Number.POSITIVE_INFINITY;
        const others = actions.filter(({ role }) => role !== viewer);
        expect(others.filter((entry) => actions.length < closes(entry.tick))).toEqual([]);
        continue;
      }
      const then = steps[tick] as Session;
      expect([state, status]).toEqual([table.game.viewState(then.state, viewer), then.status]);
      if (legal_actions && viewer !== "spectator") {
        expect(legal_actions).toEqual(table.game.legalActions(then.state, viewer));
      }
    }
  }
}
