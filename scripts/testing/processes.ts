/** Helpers of the end-to-end tests: real processes, and folders that are removed after the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { TestHost } from "#shared/rpc/testing/network.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process under test. */
export interface Running {
  readonly pid: number;
  /** Its stdin, when it was started with one. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly ended: Promise<Ended>;
  stderr(): string;
  /** Resolves with the first line of stderr that matches; rejects when the process ends or the time is over without one. */
  line(pattern: RegExp, ms?: number): Promise<string>;
  signal(name: NodeJS.Signals): void;
}

/** A process of the project, found by its command line. */
interface AgentFound {
  readonly pid: number;
  readonly args: readonly string[];
}

/** A line of a stack trace. Commands must not print any. */
export const STACK_LINE = /^(\S.*: )?\s+at .*:\d+:\d+\)?$/m;

const started: ChildProcess[] = [];
const folders: string[] = [];

/** A new folder for one test. `cleanUp` ends the processes that run in it. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "league-test-")));
  folders.push(folder);
  return folder;
}

/** For afterEach: ends the processes that were started here, by their ids, and removes the folders. */
export async function cleanUp(): Promise<void> {
  for (const child of started.splice(0))
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  for (const folder of folders.splice(0)) {
    const gone = async (): Promise<boolean> => {
      for (const { pid } of processesIn(folder)) kill(pid, "SIGKILL");
      return processesIn(folder).length === 0;
    };
    await eventually("every process of the test to be gone", gone);
    rmSync(folder, { recursive: true, force: true });
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}

/** Every process whose command line names the folder. */
export function processesIn(folder: string): readonly AgentFound[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const args = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return args.some((arg) => arg.includes(folder)) ? [{ pid: Number(name), args }] : [];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

/** The agents with this folder: manager, referees and players, not the command itself. */
export const agentsIn = (folder: string): readonly AgentFound[] =>
  processesIn(folder).filter(({ args }) => args.some((arg) => arg.endsWith("/main.ts")));

/** The process id of a running agent of a folder, by its script and one of its arguments. Throws when none runs. */
export function pidOf(folder: string, script: string, argument?: string): number {
  const isIt = ({ args }: AgentFound): boolean =>
    args[1]?.endsWith(script) === true && (argument === undefined || args.includes(argument));
  const found = agentsIn(folder).find(isIt);
  if (!found) throw new Error(`no ${script} ${argument ?? ""} runs in ${folder}`);
  return found.pid;
}

/** Receives each line of stderr. A string that it returns is written to stdin, null writes nothing, `end` closes stdin. */
export type Typist = (line: string) => string | null | { readonly end: true };

const PRELOAD = ["--require", join(root, "shared/runtime/compile-cache.cjs")];

/** Starts a script as package.json does, on this host or on one of a test network; its path is taken from the project's root. */
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
  // What is typed into a process that has ended is lost, as at a terminal.
  child.stdin?.on("error", () => {});
  let stdout = "";
  let stderr = "";
  const onStderr = new Set<() => void>();
  const outputs = { stdout: child.stdout as Readable, stderr: child.stderr as Readable };
  const typist = typeof input === "function" ? input : null;
  const told = typist ? createInterface({ input: outputs.stderr }) : null;
  told?.on("line", (line) => {
    const typed = typist?.(line) ?? null;
    if (typeof typed === "string") child.stdin?.write(`${typed}\n`);
    else if (typed) child.stdin?.end();
  });
  outputs.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  outputs.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const look of [...onStderr]) look();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const line = (pattern: RegExp, ms = 15_000): Promise<string> =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        onStderr.delete(look);
        act();
      };
      const look = (): void => {
        const found = stderr
          .split("\n")
          .slice(0, -1)
          .find((one) => pattern.test(one));
        if (found !== undefined) settle(() => resolve(found));
      };
      const fail = (why: string) => () => settle(() => reject(new Error(`${script}: ${why} ${pattern}:\n${stderr}`)));
      const timer = setTimeout(fail(`no line in ${ms} ms like`), ms);
      onStderr.add(look);
      look();
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

/** `league ARGS` to its end. */
export const league = (args: readonly string[], environment?: Record<string, string>): Promise<Ended> =>
  start("scripts/league.ts", args, environment).ended;

/** Waits until a condition holds; rejects when it does not in time. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A named tool called as curl would; the plain result, and whether it is an error. */
export async function callTool(
  port: number,
  name: string,
  args: object,
  token?: string,
): Promise<{ isError: boolean; value: Record<string, unknown> }> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  const { result } = (await response.json()) as { result: { isError?: true; content: [{ text: string }] } };
  return { isError: result.isError === true, value: JSON.parse(result.content[0].text) as Record<string, unknown> };
}
