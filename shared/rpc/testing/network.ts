/** Several hosts with separate addresses on one machine: Linux network namespaces, joined by veth pairs and a bridge. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { HostReply, HostRequest } from "./network-client.ts";

export interface TestHost {
  /** Its IPv4 address, such as 10.77.0.2. */
  readonly address: string;
  /** A /64 prefix whose addresses all belong to this host, without the trailing `::`, such as `fd77:0:0:2`. Its first address is `::1`. */
  readonly prefix6: string;
  /** Starts a program on this host; the first argument is the command. The network ends it when it closes. */
  spawn(command: readonly string[], options?: SpawnOptions): ChildProcess;
  /** Connects or disconnects this host. While it is disconnected, its packets are lost without a message. */
  setConnected(isConnected: boolean): void;
  /** An HTTP request that this host sends; the body of the reply is text. */
  request(url: string, request?: HostRequest): Promise<HostReply>;
}

export interface TestNetwork<Name extends string> {
  readonly hosts: Readonly<Record<Name, TestHost>>;
  /** Ends the programs on the hosts and removes the namespaces. */
  close(): Promise<void>;
}

/**
 * Whether this process may create network namespaces. Tests between hosts are declared with
 * `describe.skipIf(!canCreateNetworks)("… (needs root and iproute2)")`, so that a run without root reports them as skipped.
 */
export const canCreateNetworks = process.getuid?.() === 0 && existsSync("/usr/sbin/ip");

const CLIENT = fileURLToPath(new URL("network-client.ts", import.meta.url));
let networks = 0;

/** Creates hosts that reach each other and nothing else. */
export async function createNetwork<Name extends string>(...names: readonly Name[]): Promise<TestNetwork<Name>> {
  const id = `lg${process.pid.toString(36)}x${networks++}`;
  const bridge = `${id}-sw`;
  const namespaces = [bridge];
  const children: ChildProcess[] = [];
  ip("netns", "add", bridge);
  ip("-n", bridge, "link", "add", "br0", "type", "bridge");
  ip("-n", bridge, "link", "set", "br0", "up");
  names.forEach((name, index) => {
    const space = `${id}-${name}`;
    namespaces.push(space);
    ip("netns", "add", space);
    // Allows sockets on addresses of no interface, and makes addresses usable immediately.
    configure(space, { ip_nonlocal_bind: 1, "conf/default/accept_dad": 0 });
    ip("-n", space, "link", "set", "lo", "up");
    ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", `port${index}`, "netns", bridge);
    ip("-n", bridge, "link", "set", `port${index}`, "master", "br0", "up");
    ip("-n", space, "addr", "add", `10.77.0.${index + 1}/24`, "dev", "eth0");
    ip("-n", space, "addr", "add", `fd77::${index + 1}/64`, "dev", "eth0");
    ip("-n", space, "link", "set", "eth0", "up");
    ip("-n", space, "-6", "route", "add", "local", `fd77:0:0:${index + 1}::/64`, "dev", "lo");
  });
  names.forEach((name, index) => {
    names.forEach((_, other) => {
      const route = [`fd77:0:0:${other + 1}::/64`, "via", `fd77::${other + 1}`];
      if (other !== index) ip("-n", `${id}-${name}`, "-6", "route", "add", ...route);
    });
  });

  const createHost = (name: Name, index: number): TestHost => {
    const start: TestHost["spawn"] = (command, options = {}) => {
      const child = spawn("ip", ["netns", "exec", `${id}-${name}`, ...command], options);
      children.push(child);
      return child;
    };
    let client: ChildProcess | null = null;
    let requests = 0;
    const waiting = new Map<number, (reply: HostReply | { error: string }) => void>();
    const startClient = (): ChildProcess => {
      const started = start([process.execPath, CLIENT], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      started.on("message", ({ id, reply }: { id: number; reply: HostReply | { error: string } }) => {
        waiting.get(id)?.(reply);
        waiting.delete(id);
      });
      return started;
    };
    return {
      address: `10.77.0.${index + 1}`,
      prefix6: `fd77:0:0:${index + 1}`,
      spawn: start,
      setConnected(isConnected) {
        ip("-n", bridge, "link", "set", `port${index}`, ...(isConnected ? ["master", "br0"] : ["nomaster"]));
      },
      request(url, request = {}) {
        client ??= startClient();
        const id = ++requests;
        client.send({ id, url, request });
        return new Promise((resolve, reject) => {
          waiting.set(id, (reply) => ("error" in reply ? reject(new Error(`${url}: ${reply.error}`)) : resolve(reply)));
        });
      },
    };
  };

  return {
    hosts: Object.fromEntries(names.map((name, index) => [name, createHost(name, index)])) as Record<Name, TestHost>,
    async close() {
      await Promise.all(children.map(end));
      for (const space of namespaces) ip("netns", "delete", space);
    },
  };
}

const ip = (...args: string[]): void => void execFileSync("ip", args, { stdio: ["ignore", "ignore", "inherit"] });

/** Sets IPv6 options of a namespace's kernel, by their paths below /proc/sys/net/ipv6. */
function configure(space: string, values: Readonly<Record<string, number>>): void {
  const lines = Object.entries(values).map(([path, value]) => `echo ${value} > /proc/sys/net/ipv6/${path}`);
  ip("netns", "exec", space, "sh", "-c", lines.join(" && "));
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  child.kill("SIGKILL");
  return new Promise((resolve) => child.once("exit", () => resolve()));
}
