/** Helpers of the end-to-end tests: real processes, and folders that `cleanUp` removes after the test. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import type { TestHost } from "#shared/rpc/testing/network.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The end of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  /** Without the notices that an agent has not started yet. */
  readonly stderr: string;
}

/** A process under test. */
export interface Running {
  readonly pid: number;
  /** Its stdin; null if it was started with `ignore`. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly ended: Promise<Ended>;
  /** Returns the text on stderr so far. */
  stderr(): string;
  /** Resolves with the first line of stderr that matches. Rejects if the process ends or the limit of waits passes without such a line. */
  line(pattern: RegExp): Promise<string>;
  /** Sends a signal to the process. */
  signal(name: NodeJS.Signals): void;
}

/** A process that was found by its command line. */
interface FoundProcess {
  readonly pid: number;
  readonly args: readonly string[];
}

/** Matches a line of a stack trace. Commands must not print stack traces. */
export const STACK_LINE = /^(\S.*: )?\s+at .*:\d+:\d+\)?$/m;

/** Matches the notice of an agent that takes long to start. It depends on how busy the machine is, so `Ended.stderr` has no such lines. */
const SLOW_START_LINES = /^.*: has not started yet.*\n/gm;

const started: ChildProcess[] = [];
const folders: string[] = [];

/** Creates a folder for one test. `cleanUp` ends the processes whose command lines name it. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "league-test-")));
  folders.push(folder);
  return folder;
}

/** Ends the processes that `start` has started, and removes the folders of `newFolder` after all processes in them have ended. For `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const child of started.splice(0))
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  for (const folder of folders.splice(0)) {
    const areEnded = async (): Promise<boolean> => {
      for (const { pid } of processesIn(folder)) kill(pid, "SIGKILL");
      return processesIn(folder).length === 0;
    };
    await eventually("the end of every process of the test", areEnded);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sends a signal to a process, if it is still running. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}

/** Returns all processes whose command lines name the folder. */
export function processesIn(folder: string): readonly FoundProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const args = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return args.some((arg) => arg.includes(folder)) ? [{ pid: Number(name), args }] : [];
    } catch {
      return []; // the process has ended
    }
  });
}

/** Returns the managers, referees and players whose command lines name the folder, without the processes of bot files. */
export const agentsIn = (folder: string): readonly FoundProcess[] =>
  processesIn(folder).filter(({ args }) =>
    args.some((arg) => /\/(league-manager|referee|player)\/main\.ts$/.test(arg)),
  );

/** Returns the process id of a running agent, by folder, script and optionally one of its arguments. Throws if there is no such process. */
export function pidOf(folder: string, script: string, argument?: string): number {
  const matches = ({ args }: FoundProcess): boolean =>
    args.some((arg) => arg.endsWith(script)) && (argument === undefined || args.includes(argument));
  const found = agentsIn(folder).find(matches);
  if (!found) throw new Error(`no ${script} ${argument ?? ""} runs in ${folder}`);
  return found.pid;
}

/** Receives each line of stderr. A returned string is written to stdin as a line, null writes nothing, `end` closes stdin. */
export type Typist = (line: string) => string | null | { readonly end: true };

const PRELOAD = ["--require", join(root, "shared/runtime/compile-cache.cjs")];

/** Starts a script with the Node options of package.json, on this host or on a host of a test network. The script's path is relative to the root. */
export function start(
  script: string,
  args: readonly string[],
  environment: Record<string, string> = {},
  input: "ignore" | "pipe" | Typist = "ignore",
  on: Pick<TestHost, "spawn"> = { spawn: ([command = "", ...rest], options = {}) => spawn(command, rest, options) },
): Running {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(LEAGUE__|VITEST|NODE_|FORCE_COLOR)/.test(name));
  const child = on.spawn([process.execPath, ...PRELOAD, join(root, script), ...args], {
    cwd: root,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: [input === "ignore" ? "ignore" : "pipe", "pipe", "pipe"],
  });
  started.push(child);
  // Input to a process that has ended is ignored, as at a terminal.
  child.stdin?.on("error", () => {});
  let stdout = "";
  let stderr = "";
  const stderrListeners = new Set<() => void>();
  const outputs = { stdout: child.stdout as Readable, stderr: child.stderr as Readable };
  const typist = typeof input === "function" ? input : null;
  const stderrLines = typist ? createInterface({ input: outputs.stderr }) : null;
  stderrLines?.on("line", (line) => {
    const typed = typist?.(line) ?? null;
    if (typeof typed === "string") child.stdin?.write(`${typed}\n`);
    else if (typed) child.stdin?.end();
  });
  outputs.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  outputs.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const listener of [...stderrListeners]) listener();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) =>
      resolve({ code, signal, stdout, stderr: stderr.replaceAll(SLOW_START_LINES, "") }),
    );
  });
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        stderrListeners.delete(check);
        act();
      };
      const check = (): void => {
        const found = stderr
          .split("\n")
          .slice(0, -1)
          .find((one) => pattern.test(one));
        if (found !== undefined) settle(() => resolve(found));
      };
      const fail = (why: string) => () => settle(() => reject(new Error(`${script}: ${why} ${pattern}:\n${stderr}`)));
      const timer = setTimeout(fail(`no line in ${WAIT_MS} ms like`), WAIT_MS);
      stderrListeners.add(check);
      check();
      ended.then(fail("ended without a line like"));
    });
  return {
    pid: child.pid ?? 0,
    stdin: child.stdin,
    stdout: outputs.stdout,
    ended,
    stderr: () => stderr,
    line,
    signal: (name) => void child.kill(name),
  };
}

/** Runs `league ARGS`; resolves when it has ended. */
export const league = (args: readonly string[], environment?: Record<string, string>): Promise<Ended> =>
  start("scripts/league.ts", args, environment).ended;

/** Resolves when a condition holds; rejects after the limit of waits. `what` names the awaited event in the error. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${WAIT_MS} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Calls a tool with a plain HTTP request, optionally with a bearer token. Resolves with the parsed JSON of its text and `isError`. */
export async function callTool(
  port: number,
  name: string,
  args: object,
  token?: string,
): Promise<{ isError: boolean; value: Record<string, unknown> }> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(rpcToolCall(name, args)),
  });
  const { result } = (await response.json()) as { result: { isError?: true; content: [{ text: string }] } };
  return { isError: result.isError === true, value: JSON.parse(result.content[0].text) as Record<string, unknown> };
}
