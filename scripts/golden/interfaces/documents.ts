import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, isoAt, systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { httpNetwork, type Network } from "#shared/rpc/network.ts";
import type { ConnectionPool, DispatchController } from "#shared/rpc/peer/http-transport.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import type { OpenSocket } from "#shared/rpc/websocket/websocket.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { type ResultsDocument, storedDocument } from "../../../league-manager/projections/results-document.ts";
import { startManager } from "../../../league-manager/service.ts";
import { jsonText } from "../json-text.ts";
import { printedBy } from "./commands.ts";
import { copied } from "./fixtures.ts";
import { openMcpSession } from "./mcp-client.ts";

/** Starts a manager on a copy of a folder of an earlier version. Resolves with the documents of its pages, its results and the results of its tools. */
export async function documentsOf(name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  const dataFolder = copied(name, folder);
  const config = Config.parse(JSON.parse(readFileSync(join(dataFolder, "config.json"), "utf8")));
  const ready = Promise.withResolvers<string>();
  const self = silentProcess("manager", {
    ...{ clock: CLOCK, network: NETWORK },
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
