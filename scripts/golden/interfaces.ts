import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gameIds } from "#shared/games/registry.ts";
import { type Clock, isoAt, systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { httpNetwork, type Network } from "#shared/rpc/network.ts";
import type { ConnectionPool, DispatchController } from "#shared/rpc/peer/http-transport.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import type { OpenSocket } from "#shared/rpc/websocket/websocket.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { type ResultsDocument, storedDocument } from "../../league-manager/projections/results-document.ts";
import { startManager } from "../../league-manager/service.ts";
import { startPlayer } from "../../player/service.ts";
import { startReferee } from "../../referee/service.ts";
import { copied, printedBy } from "./commands.ts";
import { jsonText, withoutVersion } from "./record-text.ts";

/** The engines of this machine are no opponents. */
const NO_ENGINES = { engineFolders: [] };
const BASE = { host: LOOPBACK_HOST, ports: [0] };

/** The servers whose interfaces are recorded, each with the function that starts it. The manager has an open league of each game. */
const SERVERS: Readonly<Record<string, (place: Place) => Promise<RunningAgent>>> = {
  manager: ({ self, dataFolder }) =>
    startManager({ config: openLeagues(), port: 0, dataFolder, seed: sha256Hex("golden") }, self),
  referee: ({ self, dataFolder, manager }) =>
    startReferee({ ...BASE, ...NO_ENGINES, name: "Referee 1", manager: `${manager}/mcp`, dataFolder }, self),
  host: ({ self, dataFolder }) =>
    startReferee({ ...BASE, ...NO_ENGINES, name: "Host", manager: null, storeName: "host", dataFolder }, self),
  player: ({ self, dataFolder, manager }) =>
    startPlayer({ ...BASE, name: "Ada", bot: "random", manager: `${manager}/mcp`, dataFolder }, self),
  "manual-player": ({ self, dataFolder, manager }) =>
    startPlayer({ ...BASE, name: "Ben", bot: "manual", manager: `${manager}/mcp`, dataFolder }, self),
};

interface Place {
  readonly self: AgentProcess;
  readonly dataFolder: string;
  /** The address of the manager. */
  readonly manager: string;
}

const openLeagues = (): Config =>
  Config.parse({ leagues: gameIds.map((game) => ({ league_id: game.replace(/\.v\d+$/, ""), game, min_players: 99 })) });

/** Starts all servers and reads their interfaces over HTTP. Resolves with a text for each server. */
export async function interfacesOfServers(): Promise<ReadonlyMap<string, string>> {
  const dataFolder = mkdtempSync(join(tmpdir(), "golden-"));
  const running: RunningAgent[] = [];
  const addresses = new Map<string, string>();
  try {
    for (const [name, start] of Object.entries(SERVERS)) {
      const ready = Promise.withResolvers<string>();
      const registered = Promise.withResolvers<void>();
      const self = silentProcess(name, {
        say: (line) => line.startsWith("registered") && registered.resolve(),
        report: (report) => report.type === "ready" && ready.resolve(report.url),
      });
      running.push(await start({ self, dataFolder, manager: addresses.get("manager") ?? "" }));
      addresses.set(name, await ready.promise);
      // The ids of agents follow the order of their registrations.
      if (name !== "manager" && name !== "host") await registered.promise;
    }
    const texts = new Map<string, string>();
    for (const [name, address] of addresses) {
      // The documents of a referee are those of a session host.
      const text = await interfaceOf(address, name === "referee" ? [] : DOCUMENTS);
      texts.set(name, withoutAddresses(text, addresses));
    }
    return texts;
  } finally {
    for (const agent of running.reverse()) await agent.stop();
    rmSync(dataFolder, { recursive: true, force: true });
  }
}

/** The system chooses the ports, so addresses are replaced by the names of the servers. */
function withoutAddresses(text: string, addresses: ReadonlyMap<string, string>): string {
  let masked = withoutVersion(text);
  for (const [name, address] of addresses) masked = masked.replaceAll(new URL(address).host, `<host of ${name}>`);
  return masked;
}

async function interfaceOf(address: string, documents: readonly string[]): Promise<string> {
  const session = await openMcpSession(`${address}/mcp`);
  const sections = [
    `# initialize\n${jsonText(session.initialized)}`,
    ...(await listed(session.ask, "tools", "name")),
    ...(await listed(session.ask, "resources", "uri")),
    ...(await listed(session.ask, "resources/templates", "uriTemplate")),
    ...(await listed(session.ask, "prompts", "name")),
    ...(await contentsOf(session.ask)),
  ];
  await session.close();
  for (const path of documents) sections.push(await documentAt(address, path));
  return `${sections.join("\n\n")}\n`;
}

type Ask = (method: string, params?: object) => Promise<unknown>;
type Named = Readonly<Record<string, unknown>>;

/** Lists tools, resources, templates or prompts: one section for each. */
async function listed(ask: Ask, kind: string, key: string): Promise<readonly string[]> {
  const result = (await ask(`${kind}/list`)) as Readonly<Record<string, unknown>>;
  const field = kind === "resources/templates" ? "resourceTemplates" : kind;
  const items = result[field];
  if (!Array.isArray(items)) return [`# ${kind}/list\n${jsonText(result)}`];
  const { [field]: _, ...rest } = result;
  return [
    `# ${kind}/list\n${jsonText({ ...rest, [field]: items.map((item: Named) => item[key]) })}`,
    ...items.map((item: Named) => `# ${kind}: ${item[key]}\n${jsonText(item)}`),
  ];
}

/** Reads every listed resource and every prompt. */
async function contentsOf(ask: Ask): Promise<readonly string[]> {
  const { resources = [] } = (await ask("resources/list")) as {
    readonly resources?: readonly { readonly uri: string }[];
  };
  const sections: string[] = [];
  for (const { uri } of resources) {
    const result = await ask("resources/read", { uri });
    sections.push(`# resources/read ${uri}\n${jsonText(withoutScripts(result))}`);
  }
  const { prompts = [] } = (await ask("prompts/list")) as { readonly prompts?: readonly { readonly name: string }[] };
  for (const { name } of prompts)
    sections.push(`# prompts/get ${name}\n${jsonText(await ask("prompts/get", { name }))}`);
  return sections;
}

/** Returns a result without the scripts and styles of boards, whose texts change with each movement of their code. */
const withoutScripts = (result: unknown): unknown =>
  JSON.parse(JSON.stringify(result), (key, value: unknown) =>
    key === "text" && typeof value === "string"
      ? value.replaceAll(/(<(script|style)\b[^>]*>)[\s\S]*?(<\/\2>)/g, "$1$3")
      : value,
  );

/** The documents of a server besides MCP. Some servers have only some of them. */
const DOCUMENTS = ["/openapi.json", "/health", "/ready", "/metrics", "/api/leagues", "/api/games", "/api/new-game"];

async function documentAt(address: string, path: string): Promise<string> {
  const response = await fetch(`${address}${path}`, { headers: { accept: "application/json" } });
  const text = await response.text();
  const shown = path === "/metrics" ? metricsIn(text) : text.startsWith("{") ? jsonText(JSON.parse(text)) : text;
  return `# GET ${path}: ${response.status}\n${shown}`;
}

/** The names, types and descriptions of the metrics of this project. Their values are measurements, and those of Node.js depend on the machine. */
const metricsIn = (text: string): string =>
  text
    .split("\n")
    .filter((line) => /^# (HELP|TYPE) (?!process_|nodejs_)/.test(line))
    .join("\n");

/** Starts a manager on a copy of a folder of an earlier version. Resolves with the documents of its pages, its results and the results of its tools. */
export async function documentsOf(name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  const dataFolder = copied(name, folder);
  const config = Config.parse(JSON.parse(readFileSync(join(dataFolder, "config.json"), "utf8")));
  const ready = Promise.withResolvers<string>();
  const self = silentProcess("manager", {
    clock: CLOCK,
    network: NETWORK,
    report: (report) => report.type === "ready" && ready.resolve(report.url),
  });
  const manager = await startManager({ config, host: LOOPBACK_HOST, port: 0, dataFolder, seed: "another seed" }, self);
  try {
    const address = await ready.promise;
    const results = await storedDocument(config, join(dataFolder, "league-manager.sqlite"));
    const sections = [
      `# results\n${jsonText(results)}`,
      ...(await pagesOf(address, results)),
      ...(await toolsOf(address, config, readFileSync(join(dataFolder, "operator-token"), "utf8").trim())),
      ...(await commandsOf(address, config, dataFolder)),
    ];
    // The system chooses the port, so the address is replaced.
    return `${sections.join("\n\n")}\n`.replaceAll(new URL(address).host, "<host>");
  } finally {
    await manager.stop();
    rmSync(folder, { recursive: true });
  }
}

const DATE_MS = Date.UTC(2026, 11, 1);

/** The clock of the manager. Its date stands still, because a manager may add events at its start. It repeats nothing, so the manager probes no referee. */
const CLOCK: Clock = { ...systemClock, now: () => DATE_MS, iso: () => isoAt(DATE_MS), every: () => () => {} };

/** The network of the manager. All other agents refuse its connections: other programs may have the ports that the agents of the folder had. */
const NETWORK: Network = {
  ...httpNetwork(CLOCK),
  createPeers: () => createPeers({ clock: CLOCK, openPool: () => REFUSING, openSocket: refuseSocket }),
};

const REFUSING: ConnectionPool = {
  dispatch(_request, handler) {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    setImmediate(() => handler.onResponseError?.({} as DispatchController, refused));
    return true;
  },
  isBusy: () => false,
  destroy: async () => {},
};

const refuseSocket: OpenSocket = (_address, clock, events) => {
  clock.defer(() => events.onFail());
  return () => {};
};

/** The pages of a league besides those of players and matches. Some leagues have only some of them. */
const PAGES = ["", "/standings", "/crosstable", "/schedule", "/bracket", "/ratings", "/points", "/operator"];

/** The documents of all pages. Of players and matches the first is recorded as text, the others as a hash. */
async function pagesOf(address: string, { leagues }: ResultsDocument): Promise<readonly string[]> {
  const read = async (path: string): Promise<string> => {
    const response = await fetch(`${address}${path}`, { headers: { accept: "application/json" } });
    const text = await response.text();
    return `${response.status}\n${text.startsWith("{") ? jsonText(JSON.parse(text)) : text}`;
  };
  const sections = [`# GET /api/leagues: ${await read("/api/leagues")}`];
  for (const { league_id, standings, matches } of leagues) {
    const base = `/api/leagues/${league_id}`;
    for (const page of PAGES) sections.push(`# GET ${base}${page}: ${await read(base + page)}`);
    const players = standings.map(({ player_id }) => `/players/${player_id}`).sort();
    const ofMatches = matches.map(({ match_id }) => `/matches/${match_id}`);
    for (const [index, path] of [...players, ...ofMatches].entries()) {
      const text = await read(base + path);
      const isFirst = index === 0 || index === players.length;
      sections.push(`# GET ${base}${path}: ${isFirst ? text : hashOf(text)}`);
    }
    for (const path of ofMatches)
      sections.push(`# GET ${base}${path}/frames: ${hashOf(await read(`${base}${path}/frames`))}`);
    for (const path of ofMatches.slice(0, 1))
      sections.push(`# GET ${base}${path}/log: ${await read(`${base}${path}/log`)}`);
  }
  return sections;
}

const hashOf = (text: string): string => sha256Hex(text).slice(0, 16);

const TOOLS = ["get_standings", "get_schedule", "get_ratings"];

async function toolsOf(address: string, config: Config, operatorToken: string): Promise<readonly string[]> {
  const session = await openMcpSession(`${address}/mcp`, { authorization: `Bearer ${operatorToken}` });
  const sections = [`# tool list_leagues\n${jsonText(await session.ask("tools/call", { name: "list_leagues" }))}`];
  const ask = async (name: string, league_id: string): Promise<void> => {
    const result = await session.ask("tools/call", { name, arguments: { league_id } });
    sections.push(`# tool ${name} of ${league_id}\n${jsonText(result)}`);
  };
  for (const { league_id } of config.leagues)
    for (const name of [...TOOLS, "league_status"]) await ask(name, league_id);
  await ask("get_standings", "unknown");
  const [{ league_id } = { league_id: "" }] = config.leagues;
  const match = await session.ask("resources/read", { uri: `match://${league_id}/R1M1` });
  sections.push(`# resource match://${league_id}/R1M1\n${jsonText(match)}`);
  await session.close();
  return sections;
}

/** The commands that read a running manager. */
async function commandsOf(address: string, config: Config, dataFolder: string): Promise<readonly string[]> {
  const place = ["--data", dataFolder, "--manager", `${address}/mcp`];
  const places = new Map([[dataFolder, "<folder>"]]);
  const texts = [
    await printedBy(["status", ...place], places),
    await printedBy(["status", "--json", ...place], places),
  ];
  for (const { league_id } of config.leagues) texts.push(await printedBy(["logs", league_id, ...place], places));
  return texts;
}

/** The headers with which every MCP client sends its requests. */
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** The newest revision of MCP with sessions. */
const REVISION = "2025-11-25";

interface RpcReply {
  readonly result?: unknown;
  readonly error?: unknown;
}

/** An MCP session with a server. */
interface McpSession {
  /** The result of `initialize`. */
  readonly initialized: unknown;
  /** Resolves with the result of a request, or with its error as `{ error }`. */
  ask(method: string, params?: object): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Opens a session at an endpoint, with the messages of the specification and without a library that would hide parts of them. `headers` are sent with
 * each request.
 */
async function openMcpSession(endpoint: string, headers: Record<string, string> = {}): Promise<McpSession> {
  let sessionHeaders = headers;
  const post = async (message: object): Promise<Response> =>
    fetch(endpoint, {
      method: "POST",
      headers: { ...HEADERS, ...sessionHeaders },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const capabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
  const clientInfo = { name: "golden", version: "1.0.0" };
  const opened = await post({
    id: 0,
    method: "initialize",
    params: { protocolVersion: REVISION, capabilities, clientInfo },
  });
  const { result: initialized } = answerIn(await opened.text());
  sessionHeaders = {
    ...headers,
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": REVISION,
  };
  await (await post({ method: "notifications/initialized" })).text();
  let id = 0;
  return {
    initialized,
    async ask(method, params) {
      const response = await post({ id: ++id, method, ...(params && { params }) });
      const { result, error } = answerIn(await response.text());
      return error === undefined ? result : { error };
    },
    async close() {
      await (await fetch(endpoint, { method: "DELETE", headers: { ...HEADERS, ...sessionHeaders } })).text();
    },
  };
}

/** Parses an answer as JSON or as a stream of events, of which the last one is the answer. */
function answerIn(text: string): RpcReply {
  const data = text.startsWith("{")
    ? text
    : text
        .split("\n")
        .findLast((line) => line.startsWith("data: {"))
        ?.slice(6);
  return JSON.parse(data ?? '{"error":"no answer"}') as RpcReply;
}
