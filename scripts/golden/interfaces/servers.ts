import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gameIds } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startManager } from "../../../league-manager/service.ts";
import { startPlayer } from "../../../player/service.ts";
import { startReferee } from "../../../referee/service.ts";
import { jsonText } from "../json-text.ts";
import { withoutVersion } from "../masks.ts";
import { openMcpSession } from "./mcp-client.ts";

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
