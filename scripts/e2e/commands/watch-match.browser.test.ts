import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { cleanUp } from "../../testing/processes.ts";
import { startWatchedLeague, type WatchedLeague } from "../testing/watched-league.ts";

/** The folder for screenshots; none are written if it is not set. */
const FOLDER = process.env.SCREENSHOTS;

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(cleanUp);

async function openPage(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(url);
  return page;
}

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

/** Writes screenshots of the address of a page in all forms. */
async function photograph(page: Page, name: string): Promise<void> {
  if (!FOLDER) return;
  mkdirSync(FOLDER, { recursive: true });
  for (const [form, options] of [
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["phone", PHONE],
    ["phone-dark", { ...PHONE, colorScheme: "dark" }],
  ] as const) {
    const shown = await openPage(page.url(), options);
    await shown.locator(".match-board .status").waitFor();
    await shown.screenshot({ path: join(FOLDER, `${name}-${form}.png`), fullPage: true });
    await shown.context().close();
  }
}

/** Checks accessibility and that the page is not wider than the screen. */
async function inspect(page: Page): Promise<void> {
  expect(await axeFaults(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
}

const movesOn = (page: Page): Promise<string[]> => page.locator(".move-list button").allInnerTexts();
/** Waits until the list of moves of a page is this one. */
const showsMoves = async (page: Page, moves: readonly string[]): Promise<void> => {
  await page.locator(`.move-list li:nth-child(${moves.length})`).waitFor();
  await expect.poll(() => movesOn(page)).toEqual(moves);
};
const stepText = (page: Page): Promise<string> => page.locator(".step-text").innerText();
const pageOf = (league: WatchedLeague): string => `${league.url}/leagues/open/matches/R1M1`;

const CHESS = { league_id: "open", game: "chess.v1" };
const GAME = ["f2f3", "e7e5", "a2a3", "a7a6", "g2g4", "d8h4"];
const IN_SAN = ["f3", "e5", "a3", "a6", "g4", "Qh4#"];

/** Plays the game up to a number of moves. A match that the manager has taken from a killed referee is begun again. */
async function playTo(league: WatchedLeague, count: number): Promise<void> {
  for (let tick = await league.tick(); tick < count; tick++)
    await league.play(tick % 2 === 0 ? "white" : "black", GAME[tick]);
}

it("a page follows a match of chess to its end, through kills of the referee and of the manager, and steps back by keys", async () => {
  const league = await startWatchedLeague(CHESS, ["Ann", "Bob"]);
  const page = await openPage(pageOf(league));
  let navigations = 0;
  page.on("framenavigated", () => navigations++);
  await page.locator(".match-board .board [role=grid]").waitFor();
  await playTo(league, 2);
  await showsMoves(page, IN_SAN.slice(0, 2));

  await league.kill("referee");
  await page.getByText("The referee of this match does not answer").waitFor();
  await league.restart("referee");
  await playTo(league, 3);
  await showsMoves(page, IN_SAN.slice(0, 3));

  await league.kill("manager");
  await page.getByText("The server does not answer").waitFor();
  await league.restart("manager");
  await page.getByText("The server does not answer").waitFor({ state: "hidden" });
  await playTo(league, 4);
  await showsMoves(page, IN_SAN.slice(0, 4));
  const late = await openPage(pageOf(league));
  await showsMoves(late, IN_SAN.slice(0, 4));
  await inspect(late);
  await photograph(late, "live");

  const wall = await openPage(`${pageOf(league)}?projector`, { viewport: { width: 1920, height: 1080 } });
  await showsMoves(wall, IN_SAN.slice(0, 4));
  expect(await wall.evaluate(FITS)).toEqual({ isLarge: true, isAbove: true });

  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => stepText(page)).toBe("Step 2 of 4 · black: e5");
  await playTo(league, 6);
  await showsMoves(page, IN_SAN);
  await page.locator(".match-result", { hasText: "wins" }).waitFor();
  await expect.poll(() => stepText(page)).toBe("Step 2 of 6 · black: e5");
  await page.keyboard.press("End");
  await expect.poll(() => stepText(page)).toBe("Step 6 of 6 · black: Qh4#");
  await page.keyboard.press("Home");
  await expect.poll(() => stepText(page)).toBe("Step 0 of 6");
  expect(navigations).toBe(0);

  await page.getByText("Log: verified, 7 entries").waitFor();
  expect(await page.locator(".match-facts").innerText()).not.toMatch(/referee referee/i);
  expect(await page.getByText("gives the recorded result").isVisible()).toBe(false);
  const shown = await page.locator(".match").innerHTML();
  await page.reload();
  await showsMoves(page, IN_SAN);
  await page.keyboard.press("Home");
  await expect.poll(() => page.locator(".match").innerHTML()).toBe(shown);
  await page.getByText("Log: verified, 7 entries").click();
  await page.getByText("gives the recorded result").waitFor();
  await page.locator(".match-log td code").first().waitFor();
  const hashes = await page.locator(".match-log td code").allInnerTexts();
  expect(hashes).toHaveLength(7);
  expect(hashes.at(-1)).toBe(await page.locator(".match-log p code").innerText());
  await inspect(page);
  await photograph(page, "completed");

  const text = async (path: string): Promise<string> => (await fetch(`${pageOf(league)}/${path}`)).text();
  expect(await text("game.pgn")).toContain("1. f3 e5 2. a3 a6 3. g4 Qh4# {checkmate} 0-1");
  const lines = (await text("log.jsonl")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(["created", ...Array(6).fill("acted")]);
});

/** Whether the board takes most of the height of a projector, and all of the match is above the footer. */
const FITS = `(() => {
  const board = document.querySelector("[role=grid]").getBoundingClientRect();
  const end = Math.max(...[...document.querySelectorAll(".match-board, .match .move-list")].map((one) => one.getBoundingClientRect().bottom));
  return { isLarge: board.height > innerHeight * 0.5, isAbove: end <= document.querySelector(".projector-foot").getBoundingClientRect().top };
})()`;

const HOSTILE = "<img src=x onerror=alert(1)>\u001b[31m\u202Eevil";

it("a forfeit shows its cause and the answer of the player as text", async () => {
  const league = await startWatchedLeague({ league_id: "open", game: "rps.v1" }, ["Ann", "Bob"]);
  const page = await openPage(pageOf(league));
  let dialogs = 0;
  page.on("dialog", () => dialogs++);
  await league.play("player_1", "rock");
  await league.play("player_2", HOSTILE, HOSTILE, HOSTILE);
  await page.getByRole("heading", { name: "Forfeit" }).waitFor();
  const raw = await page.locator(".match-faults pre").innerText();
  expect(raw).toContain("<img src=x onerror=alert(1)>");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the page must not contain them
  expect(await page.locator(".match").innerText()).not.toMatch(/[\u001b\u202e]/);
  expect(await page.locator(".match img").count()).toBe(0);
  expect(dialogs).toBe(0);
  await inspect(page);
  await photograph(page, "forfeit");
});
