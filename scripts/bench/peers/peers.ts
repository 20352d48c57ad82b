import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import type { LocalCount } from "../matches/local.ts";
import { launch, measure, type Rate, ROOT, sleep } from "../process.ts";
import { startRealLeague } from "../real-league.ts";

/** Moves of tic-tac-toe between random players, of this project and of boardgame.io. */
export interface PeerRates {
  /** `league match` in one process, which writes a log to disk. */
  readonly match: Rate;
  /** A league: a manager, a referee that writes a log to disk, and two players in a process, over WebSockets. */
  readonly league: Rate;
  /** null if boardgame.io cannot be installed. */
  readonly boardgameIo: {
    /** A client in one process, which keeps its log in memory. */
    readonly local: Rate;
    /** A server, which keeps its log in memory, and clients over Socket.IO. */
    readonly socket: Rate;
  } | null;
}

interface Pace {
  readonly warmupMs: number;
  readonly windowMs: number;
}

const BOARDGAME_IO = "boardgame.io@0.50.2";
/** The number of matches at the same time over a network. */
const MATCHES = 16;

/** Measures this project and boardgame.io immediately after each other. */
export async function peerRates(pace: Pace, log: (step: string) => void): Promise<PeerRates> {
  log("tic-tac-toe, league match");
  const match = await matchRate(pace);
  const folder = installed(BOARDGAME_IO, log);
  log(`tic-tac-toe, a local client of ${BOARDGAME_IO}`);
  const local = folder === null ? null : await localRate(pace, folder);
  log(`tic-tac-toe, a league with ${MATCHES} matches at the same time`);
  const league = await leagueRate(pace);
  log(`tic-tac-toe, a server of ${BOARDGAME_IO} with ${MATCHES} matches at the same time`);
  const socket = folder === null ? null : await socketRate(pace, folder);
  return { match, league, boardgameIo: local && socket && { local, socket } };
}

async function matchRate({ warmupMs, windowMs }: Pace): Promise<Rate> {
  const match = await launch("scripts/bench/matches/local.ts", ["tic_tac_toe.v1", "{}", "1", "random", "random"]);
  await sleep(warmupMs);
  const actions = async (): Promise<number> => (await match.ask<LocalCount>("count")).actions;
  const rate = await measure(windowMs, actions, { match: [match] });
  await match.stop();
  return rate;
}

async function localRate({ warmupMs, windowMs }: Pace, folder: string): Promise<Rate> {
  const client = await launch("scripts/bench/peers/boardgame-io.ts", [folder]);
  await sleep(warmupMs);
  const rate = await measure(windowMs, () => client.ask<number>("count"), { client: [client] });
  await client.stop();
  return rate;
}

async function leagueRate({ warmupMs, windowMs }: Pace): Promise<Rate> {
  const league = await startRealLeague({
    // More games than can be played.
    league: { game: "tic_tac_toe.v1", format: "match", format_options: { games: 1_000_000 } },
    players: 2,
    maxMatches: MATCHES,
  });
  const { manager, referee, players } = league;
  await sleep(warmupMs);
  const rate = await measure(windowMs, league.moves, { manager: [manager], referee: [referee], players: [players] });
  await league.stop();
  return rate;
}

async function socketRate({ warmupMs, windowMs }: Pace, folder: string): Promise<Rate> {
  const server = await launch("scripts/bench/peers/boardgame-io-server.ts", [folder, String(await freePort())]);
  const args = [folder, server.urls[0] ?? "", String(MATCHES)];
  const clients = await launch("scripts/bench/peers/boardgame-io-clients.ts", args);
  await sleep(warmupMs);
  const moves = (): Promise<number> => clients.ask<number>("count");
  const rate = await measure(windowMs, moves, { server: [server], clients: [clients] });
  await clients.stop();
  await server.stop();
  return rate;
}

/** Installs a package outside this project, once. Returns its folder; null if npm cannot install it. */
function installed(name: string, log: (step: string) => void): string | null {
  const folder = join(ROOT, "node_modules", ".cache", "agent-league-peers", name);
  if (existsSync(join(folder, "node_modules"))) return folder;
  mkdirSync(folder, { recursive: true });
  try {
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, name];
    execFileSync("npm", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    return folder;
  } catch (thrown) {
    log(`npm cannot install ${name}: ${String(thrown).split("\n", 1)[0]}`);
    return null;
  }
}
