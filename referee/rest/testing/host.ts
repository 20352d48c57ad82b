import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { ServiceOptions } from "../../options.ts";
import { startReferee } from "../../service.ts";
import { CreatedSession, RegisteredAgent } from "../openapi.ts";

export interface TestHost {
  readonly url: string;
  readonly port: number;
  readonly dataFolder: string;
  /** The lines that were shown at the terminal. */
  readonly terminalLines: readonly string[];
  /** Sends a request. A string as `body` is sent unchanged, other values as JSON. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, token?: string): Promise<Answer>;
  post(path: string, body: unknown, token?: string): Promise<Answer>;
  /** Registers an agent. */
  agent(): Promise<TestAgent>;
  /** Creates a session of these agents by role. Resolves with its id. */
  session(template: string, seats: Readonly<Record<string, TestAgent>>, more?: object): Promise<string>;
  /** Stops the server and keeps its data. */
  stop(): Promise<void>;
  /** Stops the server and removes its data. */
  remove(): Promise<void>;
}

export interface CallOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: parsed JSON of the host
  readonly json: any;
  readonly text: string;
  readonly headers: Headers;
}

export interface TestAgent {
  readonly agent_id: string;
  readonly token: string;
}

export interface TestHostOptions {
  readonly port?: number;
  readonly dataFolder?: string;
  readonly expireAfterMs?: number;
  readonly limitLoopback?: boolean;
  readonly allowedOrigins?: readonly string[];
  readonly answerWithinMs?: number;
  readonly bots?: ReadonlyMap<string, string>;
  readonly botTimeouts?: ServiceOptions["botTimeouts"];
  readonly log?: Logger;
}

/** Returns a function that sends requests to the server at a URL. */
export const callerOf =
  (url: string): TestHost["call"] =>
  async (method, path, { token, body, headers, signal } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return { status: response.status, text, json: isJson ? JSON.parse(text) : null, headers: response.headers };
  };

/** Starts a session host without a manager, in this process. */
export async function startTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const { dataFolder = mkdtempSync(join(tmpdir(), "host-")) } = options;
  // Not a port of outgoing connections, one of which could take it while a test restarts the host.
  const port = options.port ?? (await freePort());
  const ready = Promise.withResolvers<string>();
  const terminalLines: string[] = [];
  const referee = await startReferee(
    {
      host: "127.0.0.1",
      ports: [port],
      manager: null,
      dataFolder,
      expireAfterMs: options.expireAfterMs,
      limitLoopback: options.limitLoopback,
      allowedOrigins: options.allowedOrigins,
      answerWithinMs: options.answerWithinMs,
      bots: options.bots,
      botTimeouts: options.botTimeouts,
      showAtTerminal: (line) => terminalLines.push(line),
    },
    silentProcess("host", {
      ...(options.log && { log: options.log }),
      report: (report) => "url" in report && ready.resolve(report.url),
    }),
  );
  const url = await ready.promise;
  // fetch may have open connections to the previous host at this port. Each of them fails once.
  while (options.port !== undefined && !(await fetch(`${url}/health`).catch(() => null)));

  const call = callerOf(url);
  return {
    url,
    port,
    dataFolder,
    terminalLines,
    call,
    get: (path, token) => call("GET", path, { ...(token && { token }) }),
    post: (path, body, token) => call("POST", path, { body, ...(token && { token }) }),
    async agent() {
      return RegisteredAgent.parse((await call("POST", "/agents")).json);
    },
    async session(template, seats, more = {}) {
      const participants = Object.fromEntries(Object.entries(seats).map(([role, { agent_id }]) => [role, agent_id]));
      const [first] = Object.values(seats);
      const body = { template, participants, ...more };
      const created = await call("POST", "/sessions", { token: first?.token ?? "", body });
      return CreatedSession.parse(created.json).session_id;
    },
    stop: () => referee.stop(),
    async remove() {
      await referee.stop();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
