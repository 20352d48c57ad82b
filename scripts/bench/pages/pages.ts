import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { launchChromium, setup } from "#shared/web/testing/chromium.ts";
import { firstLoadOf } from "../../pages/first-load.ts";
import { sendResult } from "../../testing/reported-leagues.ts";
import { launch, type Measured, measure, median, type Rate, sleep } from "../process.ts";
import { LEAGUE, startRealLeague } from "../real-league.ts";

/** What a person in a browser waits for. */
export interface PageFigures {
  /** The bytes of the first load, as they are transferred: the document, scripts, styles, images and data. */
  readonly bytes: Readonly<Record<"league" | "match" | "game", number>>;
  /** The time from the start of the navigation until the standings of 100 players are painted, without a cache. */
  readonly standingsMs: number;
  readonly typing: Typing;
  /** For each number of players: the times from a result until the standings of an open page contain it. */
  readonly results: Readonly<Record<string, readonly number[]>>;
}

const LOADS = 5;

/** Measures pages in Chromium. The servers are in another process. */
export async function pageFigures(): Promise<PageFigures> {
  setup();
  const servers = await launch("scripts/bench/pages/servers.ts", [], { endpoints: 2 });
  const browser = await launchChromium();
  try {
    return await figuresOf(browser, servers);
  } finally {
    await browser.close();
    await servers.stop();
  }
}

async function figuresOf(browser: Browser, servers: Measured): Promise<PageFigures> {
  const [manager = "", game = ""] = servers.urls;
  const league = `${manager}/leagues/hundred`;
  const bytes = {
    league: (await firstLoadOf(browser, league, { ready: ROWS })).bytes,
    match: (await firstLoadOf(browser, `${manager}/leagues/chess/matches/R1M1`, { ready: BOARD })).bytes,
    game: (await firstLoadOf(browser, game, { ready: BOARD, hasStream: true })).bytes,
  };
  const times: number[] = [];
  for (let load = 0; load < LOADS; load++) times.push(await paintedAfter(browser, `${league}/standings`));
  const typing = await withPage(browser, `${league}/crosstable`, (page) => typeDuringUpdates(page, servers));
  const results: Record<string, readonly number[]> = {};
  for (const [players, id] of Object.entries({ 4: "four", 20: "twenty", 100: "hundred" })) {
    const url = `${manager}/leagues/${id}/standings`;
    results[players] = await withPage(browser, url, (page) => resultTimes(page, servers, manager, id));
  }
  return { bytes, standingsMs: median(times), typing, results };
}

const ROWS = "main:not(.plain) a";
const BOARD = "[data-cell]";

/** Opens a page without a cache. */
async function withPage<T>(browser: Browser, url: string, use: (page: Page, context: BrowserContext) => Promise<T>) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  try {
    return await use(page, context);
  } finally {
    await context.close();
  }
}

/** Records the time of the frame after the one in which the script has drawn the rows. */
const RECORD_PAINT = `
  window.painted = new Promise((resolve) => {
    const check = () => {
      const isDrawn = document.querySelector("main:not(.plain) tbody tr");
      requestAnimationFrame(isDrawn ? () => resolve(performance.now()) : check);
    };
    requestAnimationFrame(check);
  });
`;

const paintedAfter = (browser: Browser, url: string): Promise<number> =>
  withPage(browser, "about:blank", async (page) => {
    await page.addInitScript(RECORD_PAINT);
    await page.goto(url);
    return (await page.evaluate("window.painted")) as number;
  });

const RESULTS = 30;
/** The pause before each result. The page receives all earlier changes in it, so that each result is a separate update. */
const PAUSE_MS = 400;

/**
 * Observes the table. `shownNext` resolves with the time at which it contains the next match, which
 * counts for two players.
 */
const OBSERVE = `
  const main = document.querySelector("main:not(.plain)");
  const played = () => [...main.querySelectorAll("tbody tr")].reduce((sum, row) => sum + parseInt(row.dataset.state), 0);
  window.shownNext = (before = played()) => new Promise((resolve) => {
    const check = () => {
      if (played() < before + 2) return;
      observer.disconnect();
      resolve(Date.now());
    };
    const observer = new MutationObserver(check);
    observer.observe(main, { subtree: true, childList: true, characterData: true, attributes: true });
  });
`;

/**
 * Measures the time from the moment at which a referee sends a result to the manager until the table of an open page contains it. The standings of the
 * page have at most 100 players.
 */
async function resultTimes(
  page: Page,
  servers: Measured,
  managerUrl: string,
  leagueId: string,
): Promise<readonly number[]> {
  await page.locator("main:not(.plain) tbody tr").first().waitFor();
  await page.evaluate(OBSERVE);
  const times: number[] = [];
  for (let count = 0; count < RESULTS; count++) {
    const { result } = await servers.ask<{ result: Envelope }>(leagueId);
    await sleep(PAUSE_MS);
    await page.evaluate("void (window.result = shownNext())");
    const sentAt = Date.now();
    await sendResult(managerUrl, result);
    times.push(((await page.evaluate("window.result")) as number) - sentAt);
  }
  return times;
}

/** What happens while a person types on a page whose crosstable changes. */
interface Typing {
  /** The number of keys that were pressed, and that reached the field. */
  readonly pressed: number;
  readonly received: number;
  /** The number of times that the page has changed its table meanwhile. */
  readonly updates: number;
  /** The longest task of the page's thread; 0 if none took 50 ms. */
  readonly longestTaskMs: number;
  /** The longest time from a key until the next frame; 0 if all took less than 16 ms. */
  readonly slowestKeyMs: number;
}

const KEYS = 100;
const KEY_MS = 50;
/** The pause between two results, in which about ten results come in a second. */
const RESULTS_WHILE_TYPING = 40;

/** Adds a text field to the page and observes its tasks, its keys and its table. */
const OBSERVE_TYPING = `
  window.seen = { updates: 0, task: 0, key: 0 };
  const observe = (type, field, options) => new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen[field] = Math.max(seen[field], duration);
  }).observe({ type, ...options });
  observe("longtask", "task");
  observe("event", "key", { durationThreshold: 16 });
  new MutationObserver(() => seen.updates++).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
  const field = document.createElement("input");
  document.body.prepend(field);
  field.focus();
  window.typed = () => field.value.length;
`;

/** Types while the servers report results. */
async function typeDuringUpdates(page: Page, servers: Measured): Promise<Typing> {
  await page.locator("main:not(.plain) tbody tr").first().waitFor();
  await page.evaluate(OBSERVE_TYPING);
  const reporting = (async () => {
    for (let result = 0; result < RESULTS_WHILE_TYPING; result++) {
      await servers.ask(1);
      await page.waitForTimeout((KEYS * KEY_MS) / RESULTS_WHILE_TYPING);
    }
  })();
  for (let key = 0; key < KEYS; key++) await page.keyboard.press("a", { delay: KEY_MS });
  await reporting;
  const seen = (await page.evaluate("({ ...seen, received: typed() })")) as Record<string, number>;
  const { updates = 0, task = 0, key = 0, received = 0 } = seen;
  return { pressed: KEYS, received, updates, longestTaskMs: task, slowestKeyMs: key };
}

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
      game: "rps.v1",
      options: { best_of: 9 },
      format: "round-robin",
      format_options: { cycles: 50 },
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
