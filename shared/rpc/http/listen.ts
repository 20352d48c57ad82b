import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../../lib/clock.ts";
import { err, messageOf, ok, type Result } from "../../lib/result.ts";
import type { Gate, HttpContext, McpHandler } from "../jsonrpc/http-context.ts";
import { type RejectionLog, rejectionLog } from "../jsonrpc/rejection-log.ts";
import type { McpSessions } from "../mcp/sessions.ts";
import { httpEndpoint } from "./endpoint.ts";
import { createForwarder, type Forwarding } from "./forwarding.ts";
import { isWildcard, localUrl, machineAddresses, urlsOf } from "./machine-addresses.ts";
import { mcpSocket } from "./mcp-socket.ts";
import type { Interfaces } from "./network-interfaces.ts";
import type { Readiness } from "./probes.ts";
import type { IsTrustedProxy } from "./request.ts";
import { createUpgrades, type UpgradeHandler } from "./upgrade.ts";

/** The options of `listenHttp`; `EndpointOptions` describes those without a comment. */
export interface ListenOptions {
  /** Receives rejected requests and internal errors. */
  readonly log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** The address to listen on. */
  readonly host: string;
  /** The ports to try, in order; 0 stands for a free port that the system chooses. */
  readonly ports: readonly number[];
  /** How a user sets another port, after "set another one" in the error about a port in use; `with --port` by default. */
  readonly portSetting?: string;
  readonly handler: McpHandler;
  readonly posts?: { readonly isAt: (path: string) => boolean; readonly handler: McpHandler };
  readonly gate?: Gate;
  readonly sessions?: () => Promise<McpSessions>;
  readonly isReady: () => boolean;
  readonly whyNotReady?: Readiness["whyNotReady"];
  readonly web: () => Promise<RequestListener>;
  readonly isTrustedProxy?: IsTrustedProxy;
  /** The other servers of the service; absent if there are none. */
  readonly forwarding?: Forwarding;
  /** Answers the requests for WebSockets at paths other than `/mcp`. */
  readonly upgrade?: UpgradeHandler;
  /** Returns the largest accepted body of a caller in bytes; 256 KiB by default. */
  readonly bodyLimit?: (http: HttpContext) => number;
  /** Additional host names that are accepted in the Host header and in the Origin of pages. */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
}

/** An open HTTP endpoint. */
export interface Listening {
  /** The log of rejected requests. */
  readonly rejections: RejectionLog;
  /** The URL for callers on this machine, e.g. `http://127.0.0.1:8001`. The MCP endpoint is at `/mcp` below it. */
  readonly url: string;
  /** The URLs for other machines, one for each address that it listens on. */
  readonly urls: readonly string[];
  /** Whether it listens on every address of this machine. */
  readonly isOnEveryAddress: boolean;
  readonly port: number;
  /** Closes the server. Answers that are being sent have 300 ms to complete. */
  close(): Promise<void>;
}

const DEFAULT_BODY_BYTES = 256 * 1024;
/** The time until a closing server ends connections on which answers are being sent. */
const LAST_ANSWERS_MS = 300;

/** Opens the HTTP endpoint of an agent on the first free port of `options.ports`. The error is one line that names the last port and the reason. */
export async function listenHttp(
  options: ListenOptions,
  clock: Clock,
  interfaces: () => Interfaces,
): Promise<Result<Listening, string>> {
  const {
    log,
    host,
    bodyLimit = () => DEFAULT_BODY_BYTES,
    allowedHosts = [],
    upgrade,
    forwarding,
    ...handlers
  } = options;
  const { portSetting = "with --port" } = options;
  const rejections = rejectionLog(log, clock);
  const onError = (thrown: unknown): void => log.error({ err: thrown }, "internal error");
  const names = { host, allowedHosts, machineAddresses: () => machineAddresses(interfaces()) };
  const { gate, handler } = options;
  const upgrades = createUpgrades({
    handler: withMcp({ handler, gate, onError }, upgrade),
    gate,
    bodyLimit,
    clock,
    onError,
  });
  const forwarder = forwarding && createForwarder(forwarding, clock);
  const server = httpEndpoint({ ...handlers, ...names, upgrades, forwarder, bodyLimit, rejections, onError });
  const close = (): void => {
    upgrades.close();
    forwarder?.close();
  };
  let fault = "";
  for (const port of options.ports) {
    try {
      await once(server.listen(port, host), "listening"); // rejects on an error, and removes its listeners
      // Later errors, such as a connection that cannot be accepted, do not stop the server.
      server.on("error", onError);
      return ok(listeningOn(server, close, rejections, clock, interfaces()));
    } catch (thrown) {
      const isPortTaken = (thrown as NodeJS.ErrnoException).code === "EADDRINUSE";
      fault = isPortTaken
        ? `port ${port} on ${host} is already in use; set another one ${portSetting}`
        : `cannot listen on ${host}:${port}: ${messageOf(thrown)}`;
    }
  }
  return err(fault);
}

/** Returns the handler of the WebSockets of a service: one at `/mcp` for JSON-RPC, and those of `upgrade`. */
export const withMcp =
  (options: Parameters<typeof mcpSocket>[0], upgrade: UpgradeHandler | undefined): UpgradeHandler =>
  (request) =>
    request.path === "/mcp" ? { accept: mcpSocket(options, request.http) } : (upgrade?.(request) ?? null);

function listeningOn(
  server: Server,
  closeOthers: () => void,
  rejections: ReturnType<typeof rejectionLog>,
  clock: Clock,
  interfaces: Interfaces,
): Listening {
  const bound = server.address() as AddressInfo;
  return {
    rejections,
    url: localUrl(bound.address, bound.port),
    urls: urlsOf(bound.address, bound.port, interfaces),
    isOnEveryAddress: isWildcard(bound.address),
    port: bound.port,
    close: () =>
      new Promise((resolve) => {
        const cancelTimer = clock.after(LAST_ANSWERS_MS, () => server.closeAllConnections());
        server.close(() => {
          cancelTimer();
          rejections.flush();
          resolve();
        });
        server.closeIdleConnections();
        closeOthers();
      }),
  };
}
