import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, type Measured, measure, type Rate, sleep, temporaryFolder } from "../process.ts";

/** The matches per second of a league without and with open pages, in windows that alternate. */
export interface WatchedLeague {
  readonly pages: number;
  readonly pairs: readonly { readonly alone: Rate; readonly watched: Rate }[];
  /** The number of documents that were sent to the pages per second. */
  readonly eventsPerSecond: number;
}

const LEAGUE = "watched";
const PLAYERS = 32;
const PAGES = 200;
const PAIRS = 4;

/** Plays a league with a real manager, a referee and players, and measures it without and with open pages. */
export async function watchedLeague(warmupMs: number, windowMs: number): Promise<WatchedLeague> {
  const league = await startLeague();
  const { manager, referee, players, watchers, url } = league;
  await sleep(warmupMs);
  const rate = () =>
    measure(windowMs, () => completedMatches(url), { manager: [manager], referee: [referee], players: [players] });
  const pairs: { alone: Rate; watched: Rate }[] = [];
  let [events, watchedMs] = [0, 0];
  for (let pair = 0; pair < PAIRS; pair++) {
    const watched = async (): Promise<Rate> => {
      const before = await watchers.ask<{ events: number }>(true);
      const from = performance.now();
      const measured = await rate();
      watchedMs += performance.now() - from;
      events += (await watchers.ask<{ events: number }>(false)).events - before.events;
      return measured;
    };
    // Each order occurs equally often, so that a change over time has no effect.
    const first = pair % 2 === 0 ? await rate() : await watched();
    const second = pair % 2 === 0 ? await watched() : await rate();
    pairs.push(pair % 2 === 0 ? { alone: first, watched: second } : { alone: second, watched: first });
  }
  await league.stop();
  return { pages: PAGES, pairs, eventsPerSecond: (events / watchedMs) * 1_000 };
}

async function startLeague() {
  const data = temporaryFolder();
  const [managerPort = 0, refereePort = 0, ...ports] = await freePorts(2 + PLAYERS);
  const url = `http://127.0.0.1:${managerPort}`;
  const config = join(data, "config.json");
  // More cycles than can be played in the windows.
  const format = { format: "round-robin", format_options: { cycles: 50 } };
  const options = { game: "rps.v1", options: { best_of: 9 }, min_players: PLAYERS };
  writeFileSync(config, JSON.stringify({ leagues: [{ league_id: LEAGUE, ...options, ...format }] }));
  const manager = await launch("league-manager/main.ts", [
    "--config",
    config,
    "--data",
    data,
    "--port",
    String(managerPort),
  ]);
  const agents = ["--manager", `${url}/mcp`, "--data", data];
  const referee = await launch("referee/main.ts", ["--port", String(refereePort), ...agents]);
  const players = await launch("scripts/bench/pair.ts", [data, `${url}/mcp`, ...ports.map(String)], {
    endpoints: PLAYERS,
  });
  const watchers = await launch("scripts/bench/pages/watchers.ts", [url, String(PAGES), LEAGUE]);
  const all: readonly Measured[] = [watchers, players, referee, manager];
  return {
    ...{ url, manager, referee, players, watchers },
    async stop(): Promise<void> {
      for (const one of all) await one.stop();
    },
  };
}

/** The number of completed matches. */
async function completedMatches(url: string): Promise<number> {
  const response = await fetch(`${url}/api/leagues/${LEAGUE}`);
  const { league } = (await response.json()) as { league: { completed: number } };
  return league.completed;
}
