import { freePort, freePorts } from "#shared/runtime/process/free-ports.ts";
import type { ChessRate } from "./matches/chess.ts";
import type { CodenamesRate } from "./matches/codenames.ts";
import { type ExportCost, exportCost } from "./matches/export.ts";
import {
  type LeagueRate,
  leagueRate,
  messageSizes,
  type Sizes,
  type TransportRates,
  transportRates,
} from "./matches/league.ts";
import { type LocalRates, localRates } from "./matches/local-rates.ts";
import { type McpRates, mcpRates, type Waiting, waitingCost } from "./mcp/mcp.ts";
import { type PageFigures, pageFigures, type WatchedLeague, watchedLeague } from "./pages/pages.ts";
import { type PeerRates, peerRates } from "./peers/peers.ts";
import { launch, measure, type Rate, sleep } from "./process.ts";
import { type RestRates, restRates } from "./rest/rest.ts";
import { type ManagerStart, managerStart, type Starts, startTimes } from "./start-times.ts";

/** The durations and sizes of a round, which takes each measurement once. */
interface Pace {
  readonly warmupMs: number;
  readonly windowMs: number;
  /** The window for idle clients. It is long enough for every event stream to send one keep-alive. */
  readonly quietMs: number;
  /** The number of games of chess and of Codenames. */
  readonly games: number;
  /** The number of measured starts of `npm start` after the first. */
  readonly followingStarts: number;
  /** The number of players of each run that is exported and verified: 64, 200 and 448 players play 2,016, 19,900 and 100,128 matches. */
  readonly exportPlayers: readonly number[];
}

/**
 * The pace of a full round. V8 needs half a minute to optimize a player that gets two thousand calls per second, which then needs two thirds of the
 * time; the minimal clients and servers of the limits are optimized after seconds. A quick round therefore shows the league slower relative to its limits
 * than a full round.
 */
export const FULL: Pace = {
  warmupMs: 30_000,
  windowMs: 3_000,
  quietMs: 15_000,
  games: 20,
  followingStarts: 2,
  exportPlayers: [64, 200, 448],
};
/** The pace of `--quick`. */
export const QUICK: Pace = {
  warmupMs: 3_000,
  windowMs: 1_500,
  quietMs: 5_000,
  games: 5,
  followingStarts: 1,
  exportPlayers: [64, 200],
};

/** The figures of one round, by measurement. */
export interface Round {
  readonly sizes: Sizes;
  readonly league64: LeagueRate;
  readonly limit: Readonly<Record<"8" | "16" | "128", Rate>>;
  readonly transports: TransportRates;
  readonly pair: LeagueRate;
  readonly sdk: Readonly<Record<"stream" | "json", Rate>>;
  readonly local: LocalRates;
  readonly peers: PeerRates;
  readonly league1: LeagueRate;
  readonly league1000: LeagueRate;
  readonly rest: RestRates;
  readonly mcp: McpRates;
  readonly waiting: Readonly<Record<"session" | "stateless", Waiting>>;
  readonly chess: ChessRate;
  readonly codenames: CodenamesRate;
  readonly exports: readonly ExportCost[];
  readonly managerStart: ManagerStart;
  readonly pages: PageFigures;
  readonly watchedLeague: WatchedLeague;
  readonly starts: Starts;
}

/** What a measurement depends on. */
export interface Conditions {
  readonly pace: Pace;
  /** Null if they were not measured. */
  readonly sizes: Sizes | null;
  /** The number of the round. It seeds the games. */
  readonly number: number;
}

type Log = (step: string) => void;

/** The number of concurrent matches of (a), and of concurrent calls of the limit and of the MCP SDK that are compared with it. */
const IN_FLIGHT = 64;

/** The measurements in the order of a round: those that are compared with each other follow each other. Each reports its steps. */
export const MEASUREMENTS: {
  readonly [K in keyof Round]: (conditions: Conditions, log: Log) => Promise<Round[K]>;
} = {
  sizes(_, log) {
    log("sizes of messages");
    return messageSizes();
  },
  league64: ({ pace }, log) => leagueOf(pace, IN_FLIGHT, "four", log),
  async limit(conditions, log) {
    const limit = (connections: number): Promise<Rate> => {
      log(`limit, ${connections} connections`);
      return limitRate(conditions, connections);
    };
    return { 8: await limit(8), 16: await limit(16), 128: await limit(128) };
  },
  transports({ pace, sizes }, log) {
    log("calls by POST and over WebSockets");
    return transportRates(pace, known(sizes), IN_FLIGHT);
  },
  pair: ({ pace }, log) => leagueOf(pace, IN_FLIGHT, "pair", log),
  async sdk({ pace }, log) {
    const sdk = (answers: "stream" | "json"): Promise<Rate> => {
      log(`MCP SDK, ${answers}`);
      return sdkRate(pace, answers);
    };
    return { stream: await sdk("stream"), json: await sdk("json") };
  },
  local: ({ pace }, log) => localRates(pace, log),
  peers: ({ pace }, log) => peerRates(pace, log),
  league1: ({ pace }, log) => leagueOf(pace, 1, "four", log),
  league1000: ({ pace }, log) => leagueOf(pace, 1000, "four", log),
  rest: ({ pace }, log) => restRates(pace, log),
  mcp: ({ pace }, log) => mcpRates(pace, log),
  async waiting({ pace }, log) {
    const clientsThatWait = (kind: "session" | "stateless"): Promise<Waiting> => {
      log(`MCP clients that wait, ${kind}`);
      return waitingCost(kind, pace.quietMs);
    };
    return { session: await clientsThatWait("session"), stateless: await clientsThatWait("stateless") };
  },
  chess(conditions, log) {
    log("chess");
    return ratesOfProcess<ChessRate>("scripts/bench/matches/chess.ts", conditions);
  },
  codenames(conditions, log) {
    log("Codenames");
    return ratesOfProcess<CodenamesRate>("scripts/bench/matches/codenames.ts", conditions);
  },
  async exports({ pace }, log) {
    const exports: ExportCost[] = [];
    for (const players of pace.exportPlayers) {
      log(`export and verify, ${players} players`);
      exports.push(await exportCost(players));
    }
    return exports;
  },
  managerStart({ pace }, log) {
    const mostPlayers = Math.max(...pace.exportPlayers);
    log(`start of a manager, ${mostPlayers} players`);
    return managerStart(mostPlayers);
  },
  pages(_, log) {
    log("pages in Chromium");
    return pageFigures();
  },
  watchedLeague({ pace }, log) {
    log("a league with open pages");
    return watchedLeague(pace.warmupMs, pace.windowMs);
  },
  starts({ pace }, log) {
    log("npm start");
    return startTimes(pace.followingStarts);
  },
};

function leagueOf(pace: Pace, inFlight: number, players: "four" | "pair", log: Log): Promise<LeagueRate> {
  log(`league, ${inFlight} in flight, ${players === "pair" ? "one pair" : "four players"}`);
  return leagueRate({ inFlight, players, warmupMs: pace.warmupMs, windowMs: pace.windowMs });
}

function known(sizes: Sizes | null): Sizes {
  if (sizes === null) throw new Error("the sizes of messages were not measured");
  return sizes;
}

/** Measures the calls per second of one minimal client to four minimal servers. */
async function limitRate({ pace, sizes }: Conditions, connections: number): Promise<Rate> {
  const ports = await freePorts(4);
  const echoes = await Promise.all(
    ports.map((port) => launch("scripts/bench/limit.ts", ["echo", String(port), String(known(sizes).reply)])),
  );
  const urls = echoes.flatMap((echo) => echo.urls);
  const args = ["calls", String(known(sizes).request), String(connections), String(IN_FLIGHT), ...urls];
  const caller = await launch("scripts/bench/limit.ts", args);
  await sleep(pace.warmupMs);
  const rate = await measure(pace.windowMs, () => caller.ask<number>("count"), { client: [caller], servers: echoes });
  await caller.stop();
  await Promise.all(echoes.map((echo) => echo.stop()));
  return rate;
}

/** Measures the tool calls per second of a client of the MCP SDK in one session with a server of the MCP SDK. */
async function sdkRate(pace: Pace, answers: "stream" | "json"): Promise<Rate> {
  const port = await freePort();
  const server = await launch("scripts/bench/matches/sdk.ts", ["server", String(port), answers]);
  const args = ["client", server.urls[0] ?? "", String(IN_FLIGHT)];
  const client = await launch("scripts/bench/matches/sdk.ts", args);
  await sleep(pace.warmupMs);
  const rate = await measure(pace.windowMs, () => client.ask<number>("count"), { client: [client], server: [server] });
  await client.stop();
  await server.stop();
  return rate;
}

/** Returns the figures of a process that plays games by itself. */
async function ratesOfProcess<T>(script: string, { pace, number }: Conditions): Promise<T> {
  const measured = await launch(script, [`bench/${number}`, String(pace.games)]);
  const rate = await measured.ask<T>("rate");
  await measured.stop();
  return rate;
}
