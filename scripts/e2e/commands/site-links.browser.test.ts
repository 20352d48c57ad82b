import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { startTestHost } from "../../../referee/rest/testing/host.ts";
import { cleanUp } from "../../testing/processes.ts";
import { startWatchedLeague } from "../testing/watched-league.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(cleanUp);

async function newPage(): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  return page;
}

/** The content that appears last on pages that load their data by requests, by the end of their addresses. */
const LOADED: readonly (readonly [RegExp, string])[] = [
  [/\/game\/[^/]+$/, ".match-ref, .missing"],
  [/:\d+\/$/, ".game-list li, p:text('No game has been played')"],
  [/\/matches\/[^/]+$/, ".match-facts"],
];

/** The addresses without the part after the "#" to which the content and the header of an open page link. */
async function linksOf(page: Page): Promise<readonly string[]> {
  // The script of a page replaces the content without JavaScript, which has fewer links.
  await page.locator(".brand, .missing, .projector-foot").first().waitFor();
  for (const [path, content] of LOADED) if (path.test(page.url())) await page.locator(content).first().waitFor();
  const hrefs = await page.evaluate<string[]>("[...document.querySelectorAll('a[href]')].map(({ href }) => href)");
  return [...new Set(hrefs.map((href) => href.split("#", 1)[0] ?? ""))];
}

/** Follows all links from an address. Resolves with the status of each address that was found. */
async function walk(page: Page, start: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const open = [start];
  for (let url = open.shift(); url !== undefined; url = open.shift()) {
    if (found.has(url)) continue;
    const { status, headers } = await fetch(url, { headers: { accept: "text/html" } });
    found.set(url, status);
    if (!headers.get("content-type")?.startsWith("text/html")) continue;
    await page.goto(url);
    open.push(...(await linksOf(page)));
  }
  return found;
}

it("all kinds of pages of a manager and its referee are reached from each other, and no link is dead", async () => {
  const league = await startWatchedLeague({ league_id: "cup", game: "rps.v1", options: { best_of: 3 } }, [
    "Ann",
    "Bob",
  ]);
  const page = await newPage();
  const missing = `${league.refereeUrl}/game/none`;
  const fromReferee = await walk(page, missing);
  const paths = [...fromReferee].map(([url, status]) => [
    url
      .replace(league.url, "M")
      .replace(league.refereeUrl, "R")
      .replace(/[\da-f]{8}-[\w-]+|(?<=game\/)[\w-]{10,}/, "ID"),
    status,
  ]);
  const kinds = new Map(paths.map(([url, status]) => [url, status] as const));
  expect([...kinds].filter(([, status]) => status !== 200)).toEqual([["R/game/none", 404]]);
  expect([...kinds.keys()].sort()).toEqual(
    expect.arrayContaining([
      "R/",
      "R/game/ID",
      "R/game/none",
      "M/leagues",
      "M/play",
      "M/leagues/cup",
      "M/leagues/cup?projector",
      "M/leagues/cup/standings",
      "M/leagues/cup/crosstable",
      "M/leagues/cup/schedule",
      "M/leagues/cup/operator",
      "M/leagues/cup/matches/R1M1",
      "M/leagues/cup/players/P01",
      "M/leagues/cup/players/P02",
    ]),
  );
  const origins = new Set([...fromReferee.keys()].map((url) => new URL(url).origin));
  expect([...origins].sort()).toEqual([league.url, league.refereeUrl].sort());

  // From the manager the same pages are reached, also from an address at which no page exists.
  const fromManager = await walk(page, `${league.url}/leagues/none`);
  const others = (found: ReadonlyMap<string, number>) =>
    [...found.keys()].filter((url) => !url.endsWith("/none")).sort();
  expect(others(fromManager)).toEqual(others(fromReferee));
  expect(fromManager.get(`${league.url}/leagues/none`)).toBe(404);
});

it("the header leads from a league to the form for a new game, and from a live match to its board and back", async () => {
  const league = await startWatchedLeague({ league_id: "cup", game: "rps.v1", options: { best_of: 3 } }, [
    "Ann",
    "Bob",
  ]);
  const page = await newPage();
  await page.goto(`${league.url}/leagues/cup`);
  await page.getByRole("link", { name: "New game" }).click();
  const form = page.getByRole("form", { name: "New game" });
  await form.getByRole("button", { name: "Start the game" }).waitFor();
  await expect
    .poll(() => page.evaluate("document.querySelector('.new-game').getBoundingClientRect().top < innerHeight"))
    .toBe(true);
  await page.getByRole("link", { name: "Leagues" }).click();
  await page.waitForURL(/\/leagues$/);
  await page.goto(`${league.url}/leagues/cup/matches/R1M1`);
  await page.getByRole("link", { name: "board at the referee" }).click();
  await page.waitForURL(`${league.refereeUrl}/game/*`);
  await page.getByRole("link", { name: "match R1M1" }).click();
  await page.waitForURL(`${league.url}/leagues/cup/matches/R1M1`);
});

it("a session host without a manager links to its own pages only", async () => {
  const host = await startTestHost();
  onTestFinished(() => host.remove());
  const page = await newPage();
  const found = await walk(page, new URL("/game/none", host.url).href);
  expect([...found.keys()]).toEqual([new URL("/game/none", host.url).href, new URL("/", host.url).href]);
});
