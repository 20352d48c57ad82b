import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { LocalCount } from "../matches/local.ts";
import { launch, measure, type Rate, ROOT, sleep } from "../process.ts";

/** Moves of tic-tac-toe between random players in one process. */
export interface PeerRates {
  /** `league match`, which writes a log to disk. */
  readonly match: Rate;
  /** A local client of boardgame.io, which keeps its log in memory. null if the package cannot be installed. */
  readonly boardgameIo: Rate | null;
}

const BOARDGAME_IO = "boardgame.io@0.50.2";

/** Measures this project and boardgame.io immediately after each other. */
export async function peerRates(
  { warmupMs, windowMs }: { readonly warmupMs: number; readonly windowMs: number },
  log: (step: string) => void,
): Promise<PeerRates> {
  log("tic-tac-toe, league match");
  const match = await launch("scripts/bench/matches/local.ts", ["tic_tac_toe.v1", "{}", "1", "random", "random"]);
  await sleep(warmupMs);
  const actions = async (): Promise<number> => (await match.ask<LocalCount>("count")).actions;
  const rate = await measure(windowMs, actions, { match: [match] });
  await match.stop();
  log(`tic-tac-toe, ${BOARDGAME_IO}`);
  const folder = installed(BOARDGAME_IO, log);
  if (folder === null) return { match: rate, boardgameIo: null };
  const client = await launch("scripts/bench/peers/boardgame-io.ts", [folder]);
  await sleep(warmupMs);
  const moves = (): Promise<number> => client.ask<number>("count");
  const boardgameIo = await measure(windowMs, moves, { client: [client] });
  await client.stop();
  return { match: rate, boardgameIo };
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
