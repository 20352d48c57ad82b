import type { Browser, BrowserContext, Page } from "playwright-core";
import { launchChromium, setup } from "#shared/web/testing/chromium.ts";
import { firstLoadOf } from "../../pages/first-load.ts";
import { median } from "../median.ts";
import { launch, type Measured } from "../process.ts";
import { resultTimes } from "./results.ts";
import { type Typing, typeDuringUpdates } from "./typing.ts";

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
