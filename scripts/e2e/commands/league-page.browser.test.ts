import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { drawn, launchChromium } from "#shared/web/testing/chromium.ts";
import { showsRows } from "#shared/web/testing/standings-rows.ts";
import { startManagedLeague } from "../../testing/managed-league.ts";
import { cleanUp } from "../../testing/processes.ts";

/** The folder for screenshots of the inspected pages; none are written if it is not set. */
const FOLDER = process.env.SCREENSHOTS;

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(cleanUp);

/** Opens a page in a new browser context. */
async function openPage(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(url);
  return page;
}

const standingsOf = (league: { readonly url: string }): string => `${league.url}/leagues/rps/standings`;

const showsStatus = (page: Page, status: string): Promise<void> =>
  page.locator(".badge", { hasText: status }).waitFor();
const showsDisconnected = (page: Page, isDisconnected: boolean): Promise<void> =>
  page.getByText("The server does not answer").waitFor({ state: isDisconnected ? "visible" : "hidden" });

it("the page follows a league through a restart of the manager without a reload", async () => {
  const league = await startManagedLeague();
  await league.registerPlayers("Ann", "Bob", "Cid");
  const page = await openPage(standingsOf(league));
  await showsStatus(page, "Open");
  let navigations = 0;
  page.on("framenavigated", () => navigations++);

  await league.registerPlayers("Dan");
  await showsStatus(page, "Running");
  await league.reportWins("R1M1", "R1M2");
  await showsRows(page, league.rows());
  await league.reportWins("R2M1");
  await league.kill();
  await showsDisconnected(page, true);
  await league.restart();
  await showsDisconnected(page, false);
  await showsRows(page, league.rows());
  await league.reportWins("R2M2", "R3M1", "R3M2");
  await showsStatus(page, "Completed");
  await showsRows(page, league.rows());

  expect(navigations).toBe(0);
  const fresh = await openPage(standingsOf(league));
  await showsStatus(fresh, "Completed");
  await drawn(fresh);
  const shown = await page.locator(".wide").innerHTML();
  await expect.poll(() => fresh.locator(".wide").innerHTML()).toBe(shown);
});

it("without JavaScript the page shows the standings, and the browser reloads the page", async () => {
  const league = await startManagedLeague();
  await league.registerPlayers("Ann", "Bob", "Cid", "Dan");
  const page = await openPage(league.url, { javaScriptEnabled: false });
  await showsRows(page, league.rows());
  await league.reportWins("R1M1");
  await showsRows(page, league.rows());
});

it("seven visible pages of one browser are up to date, although a browser allows six connections to a server", async () => {
  const league = await startManagedLeague();
  await league.registerPlayers("Ann", "Bob", "Cid", "Dan");
  const page = await openPage(standingsOf(league));
  const pages = [page];
  for (const query of ["?a", "?b", "?c", "?d", "?e", ""]) {
    const next = await page.context().newPage();
    await next.goto(standingsOf(league) + query);
    pages.push(next);
  }
  await league.reportWins("R1M1");
  for (const one of pages) await showsRows(one, league.rows());
});

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
/** A name of the maximum length, without spaces. */
const LONG_NAME = "Wolfeschlegelsteinhausenbergerdorff".repeat(3).slice(0, 100);

it.each([
  ["a phone", PHONE],
  ["a phone, dark", { ...PHONE, colorScheme: "dark" }],
  ["a desktop, dark", { colorScheme: "dark" }],
] as const)(
  "on %s the page fits the width of the screen and has no serious accessibility fault",
  async (name, options) => {
    const league = await startManagedLeague();
    const page = await openPage(standingsOf(league), options);
    await inspect(page, `${name}, open`);
    await league.registerPlayers("Ann", "Bob", LONG_NAME, "Dan");
    await league.reportWins("R1M1");
    await showsRows(page, league.rows());
    await league.kill();
    await showsDisconnected(page, true);
    await inspect(page, `${name}, disconnected`);
    await league.restart();
    await league.reportWins("R1M2", "R2M1", "R2M2", "R3M1", "R3M2");
    await showsStatus(page, "Completed");
    await inspect(page, `${name}, completed`);
    await page.goto(`${league.url}/leagues/chess`);
    await inspect(page, `${name}, unknown league`);
  },
);

/** Checks accessibility with axe and the width of a page, and writes a screenshot if FOLDER is set. */
async function inspect(page: Page, name: string): Promise<void> {
  if (FOLDER) {
    mkdirSync(FOLDER, { recursive: true });
    await page.screenshot({ path: join(FOLDER, `${name.replaceAll(/\W+/g, "-")}.png`), fullPage: true });
  }
  expect(await axeFaults(page)).toEqual([]);
  const tooWide =
    "document.documentElement.scrollWidth > document.documentElement.clientWidth || document.documentElement.clientWidth > screen.width";
  expect(await page.evaluate(tooWide)).toBe(false);
}
