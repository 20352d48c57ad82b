import { freePort, freePorts } from "#shared/runtime/process/free-ports.ts";
import type { ChessRate } from "./matches/chess.ts";
import type { CodenamesRate } from "./matches/codenames.ts";
import { type ExportCost, exportCost } from "./matches/export.ts";
import { type LeagueRate, leagueRate, type Sizes } from "./matches/league.ts";
import { type LocalRates, localRates } from "./matches/local-rates.ts";
import { type ManagerStart, managerStart } from "./matches/manager-start.ts";
import { type TransportRates, transportRates } from "./matches/transports.ts";
import { type McpRates, mcpRates } from "./mcp/mcp.ts";
import { type Waiting, waitingCost } from "./mcp/waiting.ts";
import { type PageFigures, pageFigures } from "./pages/pages.ts";
import { type WatchedLeague, watchedLeague } from "./pages/watched-league.ts";
import { type PeerRates, peerRates } from "./peers/peers.ts";
import { launch, measure, type Rate, sleep } from "./process.ts";
import { type RestRates, restRates } from "./rest/rest.ts";
import { type Starts, startTimes } from "./start/start-times.ts";

/** The durations and sizes of a round, which takes every measurement once. */
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

/** The measurements of one round. */
export interface Round {
  readonly league: Readonly<Record<"1" | "64" | "1000", LeagueRate>>;
  readonly limit: Readonly<Record<"8" | "16" | "128", Rate>>;
  readonly transports: TransportRates;
  readonly pair: LeagueRate;
  readonly sdk: Readonly<Record<"stream" | "json", Rate>>;
  readonly local: LocalRates;
  readonly peers: PeerRates;
  readonly chess: ChessRate;
  readonly starts: Starts;
  readonly rest: RestRates;
  readonly mcp: McpRates;
  readonly waiting: Readonly<Record<"session" | "stateless", Waiting>>;
  readonly codenames: CodenamesRate;
  readonly exports: readonly ExportCost[];
  readonly managerStart: ManagerStart;
  readonly pages: PageFigures;
  readonly watchedLeague: WatchedLeague;
}

/** The number of concurrent matches of (a), and of concurrent calls of the limit and of the MCP SDK that are compared with it. */
const IN_FLIGHT = 64;

/** Takes every measurement once, one after the other. `number` seeds the games. */
export async function takeRound(pace: Pace, sizes: Sizes, number: number, log: (step: string) => void): Promise<Round> {
  const { warmupMs, windowMs } = pace;
  const league = (inFlight: number, players: "four" | "pair") => {
    log(`league, ${inFlight} in flight, ${players === "pair" ? "one pair" : "four players"}`);
    return leagueRate({ inFlight, players, warmupMs, windowMs });
  };
  const limit = (connections: number) => {
    log(`limit, ${connections} connections`);
    return limitRate(pace, sizes, connections);
  };
  const sdk = (answers: "stream" | "json") => {
    log(`MCP SDK, ${answers}`);
    return sdkRate(pace, answers);
  };
  const at64 = await league(IN_FLIGHT, "four");
  const limits = { 8: await limit(8), 16: await limit(16), 128: await limit(128) };
  log("calls by POST and over WebSockets");
  const transports = await transportRates(pace, sizes, IN_FLIGHT);
  const pair = await league(IN_FLIGHT, "pair");
  const sdks = { stream: await sdk("stream"), json: await sdk("json") };
  const local = await localRates(pace, log);
  const peers = await peerRates(pace, log);
  const at1 = await league(1, "four");
  const at1000 = await league(1000, "four");
  const rest = await restRates(pace, log);
  const mcp = await mcpRates(pace, log);
  const clientsThatWait = (kind: "session" | "stateless") => {
    log(`MCP clients that wait, ${kind}`);
    return waitingCost(kind, pace.quietMs);
  };
  const waiting = { session: await clientsThatWait("session"), stateless: await clientsThatWait("stateless") };
  log("chess");
  const chess = await ratesOfProcess<ChessRate>("scripts/bench/matches/chess.ts", pace, number);
  log("Codenames");
  const codenames = await ratesOfProcess<CodenamesRate>("scripts/bench/matches/codenames.ts", pace, number);
  const exports: ExportCost[] = [];
  for (const players of pace.exportPlayers) {
    log(`export and verify, ${players} players`);
    exports.push(await exportCost(players));
  }
  const mostPlayers = Math.max(...pace.exportPlayers);
  log(`start of a manager, ${mostPlayers} players`);
  const startOfManager = await managerStart(mostPlayers);
  log("pages in Chromium");
  const pages = await pageFigures();
  log("a league with open pages");
  const watched = await watchedLeague(warmupMs, windowMs);
  log("npm start");
  const starts = await startTimes(pace.followingStarts);
  const leagues = { 1: at1, 64: at64, 1000: at1000 };
  const calls = { limit: limits, transports, pair, sdk: sdks, rest, mcp, waiting };
  return {
    league: leagues,
    ...calls,
    local,
    peers,
    chess,
    codenames,
    exports,
    managerStart: startOfManager,
    starts,
    pages,
    watchedLeague: watched,
  };
}

/** Measures the calls per second of one minimal client to four minimal servers. */
async function limitRate(pace: Pace, sizes: Sizes, connections: number): Promise<Rate> {
  const ports = await freePorts(4);
  const echoes = await Promise.all(
    ports.map((port) => launch("scripts/bench/limit.ts", ["echo", String(port), String(sizes.reply)])),
  );
  const urls = echoes.flatMap((echo) => echo.urls);
  const args = ["calls", String(sizes.request), String(connections), String(IN_FLIGHT), ...urls];
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
async function ratesOfProcess<T>(script: string, pace: Pace, number: number): Promise<T> {
  const measured = await launch(script, [`bench/${number}`, String(pace.games)]);
  const rate = await measured.ask<T>("rate");
  await measured.stop();
  return rate;
}
