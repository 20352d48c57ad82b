import { rmSync } from "node:fs";
import { join } from "node:path";
import { freePort, freePorts } from "#shared/runtime/process/free-ports.ts";
import type { ChessRate } from "./matches/chess.ts";
import type { CodenamesRate } from "./matches/codenames.ts";
import { type ExportCost, exportCost } from "./matches/export.ts";
import { type LeagueRate, leagueRate, type Sizes } from "./matches/league.ts";
import { type ManagerStart, managerStart } from "./matches/manager-start.ts";
import { type McpRates, mcpRates } from "./mcp/mcp.ts";
import { type Waiting, waitingCost } from "./mcp/waiting.ts";
import { launch, measure, type Rate, runCommand, sleep, temporaryFolder } from "./process.ts";
import { type RestRates, restRates } from "./rest/rest.ts";

/** How long each window is; a round takes every measurement once. */
interface Pace {
  readonly warmupMs: number;
  readonly windowMs: number;
  /** For what should cost nothing; long enough for every event stream to be kept alive once. */
  readonly quietMs: number;
  readonly games: number;
  readonly followingStarts: number;
  /** Of each run that is exported and verified: 64, 200 and 448 players play 2,016, 19,900 and 100,128 matches. */
  readonly exportPlayers: readonly number[];
}

/**
 * A player that gets two thousand calls a second is compiled to its full speed after half a minute, and takes two thirds of the time then; what a
 * limit does is so small that it is after seconds. So a quick round, which waits for neither, makes the league look slower than it is.
 */
export const FULL: Pace = {
  warmupMs: 30_000,
  windowMs: 3_000,
  quietMs: 15_000,
  games: 20,
  followingStarts: 2,
  exportPlayers: [64, 200, 448],
};
export const QUICK: Pace = {
  warmupMs: 3_000,
  windowMs: 1_500,
  quietMs: 5_000,
  games: 5,
  followingStarts: 1,
  exportPlayers: [64, 200],
};

export interface Starts {
  readonly firstMs: number;
  readonly followingMs: readonly number[];
  readonly peakMb: number;
  readonly processes: number;
}

export interface Round {
  readonly league: Readonly<Record<"1" | "64" | "1000", LeagueRate>>;
  readonly limit: Readonly<Record<"8" | "16" | "128", Rate>>;
  readonly pair: LeagueRate;
  readonly sdk: Readonly<Record<"stream" | "json", Rate>>;
  readonly chess: ChessRate;
  readonly starts: Starts;
  readonly rest: RestRates;
  readonly mcp: McpRates;
  readonly waiting: Readonly<Record<"session" | "stateless", Waiting>>;
  readonly codenames: CodenamesRate;
  readonly exports: readonly ExportCost[];
  readonly managerStart: ManagerStart;
}

/** Matches of a, and calls of the limit and of the MCP SDK beside it, that are under way at once. */
const IN_FLIGHT = 64;

/** Takes every measurement once, one after the other: nothing else of ours runs meanwhile. */
export async function takeRound(
  pace: Pace,
  sizes: Sizes,
  number: number,
  tell: (what: string) => void,
): Promise<Round> {
  const { warmupMs, windowMs } = pace;
  const league = (inFlight: number, players: "four" | "pair") => {
    tell(`league, ${inFlight} in flight, ${players === "pair" ? "one pair" : "four players"}`);
    return leagueRate({ inFlight, players, warmupMs, windowMs });
  };
  const limit = (connections: number) => {
    tell(`limit, ${connections} connections`);
    return limitRate(pace, sizes, connections);
  };
  const sdk = (answers: "stream" | "json") => {
    tell(`MCP SDK, ${answers}`);
    return sdkRate(pace, answers);
  };
  const at64 = await league(IN_FLIGHT, "four");
  const limits = { 8: await limit(8), 16: await limit(16), 128: await limit(128) };
  const pair = await league(IN_FLIGHT, "pair");
  const sdks = { stream: await sdk("stream"), json: await sdk("json") };
  const at1 = await league(1, "four");
  const at1000 = await league(1000, "four");
  const rest = await restRates(pace, tell);
  const mcp = await mcpRates(pace, tell);
  const waits = (kind: "session" | "stateless") => {
    tell(`MCP clients that wait, ${kind}`);
    return waitingCost(kind, pace.quietMs);
  };
  const waiting = { session: await waits("session"), stateless: await waits("stateless") };
  tell("chess");
  const chess = await playedAlone<ChessRate>("scripts/bench/matches/chess.ts", pace, number);
  tell("Codenames");
  const codenames = await playedAlone<CodenamesRate>("scripts/bench/matches/codenames.ts", pace, number);
  const exports: ExportCost[] = [];
  for (const players of pace.exportPlayers) {
    tell(`export and verify, ${players} players`);
    exports.push(await exportCost(players));
  }
  const most = Math.max(...pace.exportPlayers);
  tell(`start of a manager, ${most} players`);
  const startOfManager = await managerStart(most);
  tell("npm start");
  const starts = await startTimes(pace);
  const leagues = { 1: at1, 64: at64, 1000: at1000 };
  const calls = { limit: limits, pair, sdk: sdks, rest, mcp, waiting };
  return { league: leagues, ...calls, chess, codenames, exports, managerStart: startOfManager, starts };
}

/** Calls a second of one bare client process to four bare servers. */
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

/** Tool calls a second of the MCP SDK's client in one session with the MCP SDK's server. */
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

/** What a process finds out that plays games for itself. */
async function playedAlone<T>(script: string, pace: Pace, number: number): Promise<T> {
  const player = await launch(script, [`bench/${number}`, String(pace.games)]);
  const rate = await player.ask<T>("rate");
  await player.stop();
  return rate;
}

/** `npm start` as a newcomer has it: first without anything compiled, when its memory is watched; then again. */
async function startTimes(pace: Pace): Promise<Starts> {
  const data = temporaryFolder();
  const once = async (isWatched: boolean) => {
    const [manager, referee, , player] = await freePorts(7);
    const env = {
      ...process.env,
      NODE_COMPILE_CACHE: join(data, "compiled"),
      LEAGUE__DATA: data,
      LEAGUE__MANAGER__PORT: String(manager),
      LEAGUE__REFEREES__FIRSTPORT: String(referee),
      LEAGUE__PLAYERSFIRSTPORT: String(player),
    };
    return runCommand("npm", ["start", "--", "--quiet", "--seed", "7"], env, isWatched);
  };
  try {
    const { ms: firstMs, peakMb, processes } = await once(true);
    const followingMs: number[] = [];
    for (let turn = 0; turn < pace.followingStarts; turn++) followingMs.push((await once(false)).ms);
    return { firstMs, followingMs, peakMb, processes };
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}
