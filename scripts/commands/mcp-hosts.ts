import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import type { McpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import type { RemoteService } from "#shared/rpc/mcp/remote-service.ts";
import { type OtherService, routedService } from "#shared/rpc/mcp/routed-service.ts";
import type { McpService } from "#shared/rpc/mcp/sdk-server.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { isInUse, StoreInUse } from "#shared/runtime/files/locked-store.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { VERSION } from "#shared/runtime/program.ts";

/** The session hosts of a `league mcp`: the host of its new games, and a host for each other database file with a game that its client names. */
interface McpHosts {
  /** The URL of the host of its new games, e.g. `http://127.0.0.1:8001`. */
  readonly url: string;
  /** Answers each request at the host of the game that the request names, which may be in another process. */
  readonly service: McpService;
  /** The client of this process as a caller. */
  readonly caller: HttpContext;
  /** Calls `listener` with the URI of each changed resource of all hosts. */
  watch(listener: (uri: string) => void): void;
  stop(): Promise<void>;
}

interface Host extends RunningAgent {
  readonly url: string;
  readonly file: string;
  readonly mcp: McpEndpoint;
  readonly logRejection: HttpContext["logRejection"];
}

interface RemoteHost {
  readonly url: string;
  readonly service: RemoteService;
}

/** The maximum number of database files of a folder. */
const MAX_FILES = 99;

/** Starts a session host in this process with the first database file of the folder that is not in use. */
export async function startMcpHosts(
  dataFolder: string,
  port: number | undefined,
  self: AgentProcess,
): Promise<McpHosts> {
  const { gameFiles } = await import("../../referee/game-files.ts");
  const hosts = new HostTable(self);
  const ownHost = await onFirstFree(dataFolder, (file) => unlessInUse(hosts.start(file, port)));
  const files = gameFiles(dataFolder);
  return {
    url: ownHost.url,
    service: routedService(ownHost.mcp.service, (params) => {
      const names = namesIn(params);
      const file = names.length === 0 ? null : files.fileOf(names);
      return file === null || file === ownHost.file ? null : hosts.serviceOn(file);
    }),
    caller: { bearer: null, remoteAddress: LOOPBACK_HOST, logRejection: ownHost.logRejection },
    watch: (listener) => hosts.watch(listener),
    stop: () => hosts.stop(),
  };
}

/** The hosts by their database files. */
class HostTable {
  readonly #self: AgentProcess;
  readonly #hosts = new Map<string, Host>();
  readonly #starting = new Map<string, Promise<Host | null>>();
  /** Hosts of other processes. */
  readonly #remote = new Map<string, RemoteHost>();
  #listener: (uri: string) => void = () => {};

  constructor(self: AgentProcess) {
    this.#self = self;
  }

  /** Starts a host in this process. Rejects with StoreInUse if another process uses the file. */
  async start(file: string, port?: number): Promise<Host> {
    // Only the first host may open its list of games in the browser. The client receives links to the games of the other hosts.
    const host = await startHost(file, port, this.#hosts.size === 0, this.#self);
    host.mcp.watch((uri) => this.#listener(uri));
    this.#hosts.set(file, host);
    return host;
  }

  async serviceOn(file: string): Promise<OtherService> {
    const host = this.#hosts.get(file) ?? (await this.#startIfFree(file));
    return host?.mcp.service ?? (await this.#remoteOn(file));
  }

  watch(listener: (uri: string) => void): void {
    this.#listener = listener;
  }

  async stop(): Promise<void> {
    for (const { file } of this.#hosts.values()) rmSync(addressFile(file), { force: true });
    const closing = [...this.#remote.values()].map(({ service }) => service.close());
    await Promise.all([...closing, ...[...this.#hosts.values()].map((host) => host.stop())]);
  }

  /** Starts a host with a file; resolves with null if another process uses the file. */
  async #startIfFree(file: string): Promise<Host | null> {
    const underWay = this.#starting.get(file);
    if (underWay) return underWay;
    if (isInUse(file)) return null;
    const started = unlessInUse(this.start(file)).finally(() => this.#starting.delete(file));
    this.#starting.set(file, started);
    return started;
  }

  /** Returns a client of the host in the process that uses a file. */
  async #remoteOn(file: string): Promise<RemoteService> {
    const url = `${addressOf(file)}/mcp`;
    const known = this.#remote.get(file);
    if (known?.url === url) return known.service;
    const { RemoteService } = await import("#shared/rpc/mcp/remote-service.ts");
    void known?.service.close();
    const onChanged = (uri: string): void => this.#listener(uri);
    const service = new RemoteService({ url, name: "league-mcp", version: VERSION, onChanged });
    this.#remote.set(file, { url, service });
    return service;
  }
}

async function startHost(
  file: string,
  port: number | undefined,
  isAttended: boolean,
  self: AgentProcess,
): Promise<Host> {
  const { startReferee } = await import("../../referee/service.ts");
  let url = "";
  const { ended, stop, mcp, rejections } = await startReferee(
    {
      host: LOOPBACK_HOST,
      ports: port === undefined ? undefined : [port],
      dataFolder: dirname(file),
      storeName: basename(file, ".sqlite"),
      manager: null,
      isAttended,
    },
    {
      ...self,
      say: (line) => self.log.info(line),
      report(report) {
        if (report.type === "ready") url = report.url;
      },
    },
  );
  writeFileSync(addressFile(file), `${url}\n`);
  const logRejection: Host["logRejection"] = (rejected) => rejections.write(LOOPBACK_HOST, rejected);
  return { ...(ended && { ended }), stop, mcp, logRejection, url, file };
}

/** Calls `start` for each file name until it resolves with a host. Rejects with StartError if all files are in use. */
async function onFirstFree(dataFolder: string, start: (file: string) => Promise<Host | null>): Promise<Host> {
  for (let number = 1; number <= MAX_FILES; number++) {
    const host = await start(join(dataFolder, `mcp-${number}.sqlite`));
    if (host) return host;
  }
  throw new StartError(`all ${MAX_FILES} database files of ${dataFolder} are in use; choose another folder (--data)`);
}

const unlessInUse = (started: Promise<Host>): Promise<Host | null> =>
  started.catch((thrown) => {
    if (thrown instanceof StoreInUse) return null;
    throw thrown;
  });

/** Returns the file into which the process that uses a database file writes the address of its host. */
const addressFile = (file: string): string => `${file}.url`;

function addressOf(file: string): string {
  const address = addressFile(file);
  if (!existsSync(address)) throw new StartError(`${file} is in use by a process that does not share its games`);
  return readFileSync(address, "utf8").trim();
}

interface Named {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly uri?: unknown;
}

/** Returns the parameters of a request that may be a session id or the token of a game: arguments of tools, and parts of a resource's URI. */
function namesIn(params: unknown): readonly string[] {
  const { arguments: args, uri } = (params ?? {}) as Named;
  const { game_id, match_id, game_token } = args ?? {};
  const parts = typeof uri === "string" ? uri.split("/") : [];
  return [game_id, match_id, game_token, ...parts].filter((name) => typeof name === "string");
}
