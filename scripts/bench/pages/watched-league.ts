import { launch, measure, type Rate, sleep } from "../process.ts";
import { LEAGUE, startRealLeague } from "../real-league.ts";

/** The matches per second of a league without and with open pages, in windows that alternate. */
export interface WatchedLeague {
  readonly pages: number;
  readonly pairs: readonly { readonly alone: Rate; readonly watched: Rate }[];
  /** The number of documents that were sent to the pages per second. */
  readonly eventsPerSecond: number;
}

const PLAYERS = 32;
const PAGES = 200;
const PAIRS = 4;

/** Plays a league with a real manager, a referee and players, and measures it without and with open pages. */
export async function watchedLeague(warmupMs: number, windowMs: number): Promise<WatchedLeague> {
  const league = await startLeague();
  const { manager, referee, players, watchers } = league;
  await sleep(warmupMs);
  const rate = () =>
    measure(windowMs, league.completed, { manager: [manager], referee: [referee], players: [players] });
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

/** Starts the league with more cycles than can be played in the windows. */
async function startLeague() {
  const league = await startRealLeague({
    league: {
      ...{ game: "rps.v1", options: { best_of: 9 } },
      ...{ format: "round-robin", format_options: { cycles: 50 } },
    },
    players: PLAYERS,
  });
  const watchers = await launch("scripts/bench/pages/watchers.ts", [league.url, String(PAGES), LEAGUE]);
  return {
    ...league,
    watchers,
    async stop(): Promise<void> {
      await watchers.stop();
      await league.stop();
    },
  };
}
