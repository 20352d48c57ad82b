import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { NamedServer } from "#shared/rpc/stdio/bridge-router.ts";
import type { Message } from "#shared/rpc/stdio/upstream.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { isInUse, StoreInUse } from "#shared/runtime/files/locked-store.ts";
import { StartError } from "#shared/runtime/process/exit.ts";

/** The session hosts of a `league mcp`: its own host, and one for each other database file with a game that its client names. */
interface McpHosts {
  /** The URL of its own host, e.g. `http://127.0.0.1:8001`. */
  readonly url: string;
  /** Resolves with the host of the game that a message names, which may be in another process. Returns null for the command's own host. */
  serverFor(message: Message): Promise<NamedServer> | null;
  stop(): Promise<void>;
}

interface Host extends RunningAgent {
  readonly url: string;
  readonly file: string;
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
  const hosts = new Map<string, Host>();
  /** Hosts that are being started, by file. */
  const starting = new Map<string, Promise<Host | null>>();

  const startOn = async (file: string, port?: number): Promise<Host> => {
    // Only the first host may open its list of games in the browser. The client receives links to the games of the other hosts.
    const host = await startHost(file, port, hosts.size === 0, self);
    hosts.set(file, host);
    return host;
  };
  /** Starts a host with a file; resolves with null if another process uses the file. */
  const startIfFree = async (file: string): Promise<Host | null> => {
    const underWay = starting.get(file);
    if (underWay) return underWay;
    if (isInUse(file)) return null;
    const started = unlessInUse(startOn(file)).finally(() => starting.delete(file));
    starting.set(file, started);
    return started;
  };

  const ownHost = await onFirstFree(dataFolder, (file) => unlessInUse(startOn(file, port)));
  const files = gameFiles(dataFolder);
  const serverOn = async (file: string): Promise<NamedServer> => {
    const url = (hosts.get(file) ?? (await startIfFree(file)))?.url ?? addressOf(file);
    return { name: file, url: `${url}/mcp` };
  };
  return {
    url: ownHost.url,
    serverFor(message) {
      const names = namesIn(message);
      const file = names.length === 0 ? null : files.fileOf(names);
      return file === null || file === ownHost.file ? null : serverOn(file);
    },
    async stop() {
      for (const { file } of hosts.values()) rmSync(addressFile(file), { force: true });
      await Promise.all([...hosts.values()].map((host) => host.stop()));
    },
  };
}

async function startHost(
  file: string,
  port: number | undefined,
  isAttended: boolean,
  self: AgentProcess,
): Promise<Host> {
  const { startReferee } = await import("../../referee/service.ts"); // a bridge does not need the referee
  let url = "";
  const running = await startReferee(
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
  return { ...running, url, file };
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

/** Returns the parameters of a request that may be a session id or the token of a game: arguments of tools, and parts of a resource's URI. */
function namesIn({ params }: Message): readonly string[] {
  const { game_id, match_id, game_token } = (params?.arguments ?? {}) as Record<string, unknown>;
  const parts = typeof params?.uri === "string" ? params.uri.split("/") : [];
  return [game_id, match_id, game_token, ...parts].filter((name) => typeof name === "string");
}
