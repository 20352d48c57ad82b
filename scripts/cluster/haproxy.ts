import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { untilReady } from "./readiness.ts";

const PATHS = ["/usr/sbin/haproxy"];
const HAPROXY_START_MS = 10_000;

/** HAProxy in front of the managers of a run. */
interface Proxy {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts HAProxy on a port of loopback. It passes each request to a manager that is ready. */
export async function startHaproxy(folder: string, port: number, managerPorts: readonly number[]): Promise<Proxy> {
  const program = requireProgram(PATHS, "haproxy");
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, configOf(port, managerPorts));
  // The system ends HAProxy when this process ends in any way.
  const args = ["--pdeathsig", "TERM", program, "-db", "-f", file];
  const child = spawn("setpriv", args, { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000);
  });
  if (!(await untilReady(port, HAPROXY_START_MS))) {
    await end(child);
    throw new StartError(`HAProxy does not pass requests to the managers: ${errors}`, EXIT.failed);
  }
  return { pid: child.pid ?? 0, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

const configOf = (port: number, managerPorts: readonly number[]): string => `
global
  maxconn 4000
defaults
  mode http
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout tunnel 1h
  retries 3
  option redispatch
frontend managers
  bind 127.0.0.1:${port}
  default_backend managers
backend managers
  balance roundrobin
  option httpchk
  http-check send meth GET uri /ready ver HTTP/1.1 hdr Host 127.0.0.1
  default-server check inter 500ms fall 1 rise 1 on-marked-down shutdown-sessions
${managerPorts.map((managerPort, index) => `  server manager${index + 1} 127.0.0.1:${managerPort}`).join("\n")}
`;
