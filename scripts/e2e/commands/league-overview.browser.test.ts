import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { encode } from "uqr";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { drawn, launchChromium } from "#shared/web/testing/chromium.ts";
import { type ReportedLeagues, startReportedLeagues } from "../../testing/reported-leagues.ts";

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `Player ${index + 1}`);

const LEAGUES = [
  { league_id: "open", game: "rps.v1", players: names(2), missing: 2 },
  {
    league_id: "swiss",
    game: "rps.v1",
    format: "swiss",
    format_options: { rounds: 3 },
    players: names(4).map((name) => `${name} of the Swiss system`),
    results: 2,
  },
  { league_id: "large", game: "rps.v1", players: names(120).map((name) => `${name}, large`), results: 1 },
] as const;

let browser: Browser;
let leagues: ReportedLeagues;
beforeAll(async () => {
  [browser, leagues] = await Promise.all([
    launchChromium(),
    startReportedLeagues(LEAGUES, { endpoint: "http://10.0.0.9:8000/mcp" }),
  ]);
});
afterAll(async () => {
  await browser.close();
  await leagues.close();
});

/** Opens a page of the leagues in a new browser context. */
async function open(path: string, options: BrowserContextOptions = {}, prepare?: (page: Page) => Promise<unknown>) {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await prepare?.(page);
  await page.goto(leagues.url + path);
  await drawn(page);
  return page;
}

const PROJECTOR = { viewport: { width: 1920, height: 1080 } };

it("shows a complete command, and the code of the page for people at the address for other machines", async () => {
  const page = await open("/leagues/open");
  await page.getByText(/^npm run league -- join \.\/my-bot\/bot\.ts --name YOUR_NAME --manager/).waitFor();
  const code = page.getByRole("img", { name: "QR code of http://10.0.0.9:8000/play?league=open" });
  await code.waitFor();
  const { data } = encode("http://10.0.0.9:8000/play?league=open", { border: 2 });
  const dark = data.flat().filter(Boolean).length;
  expect((await code.locator(".qr-dark").getAttribute("d"))?.split("M")).toHaveLength(dark + 1);

  await page.getByText("python3 join.py YOUR_NAME").waitFor();
  const file = await page.getByRole("link", { name: "join.py" }).getAttribute("href");
  const program = await (await fetch(`${leagues.url}${file}`)).text();
  expect(program).toContain('\nMANAGER, LEAGUE = "http://10.0.0.9:8000/mcp", "open"\n');

  await page.getByRole("link", { name: "/play?league=open" }).click();
  await page.getByRole("heading", { name: "Play in a league" }).waitFor();
  await expect.poll(() => page.locator('input[name="league_id"], select[name="league_id"]').inputValue()).toBe("open");
});

it("results appear on an open page, in words for screen readers, and rows show their movement", async () => {
  const page = await open("/leagues/swiss/standings");
  await expect.poll(() => page.locator(".form-mark").count()).toBe(4);
  expect(await page.locator(".move").count()).toBe(0);
  // All leaders are bold, not only the first row.
  const leaders = (await page.evaluate(LEADERS)) as { readonly first: number; readonly bold: number };
  expect(leaders).toEqual({ first: 2, bold: 2 });
  await leagues.report("swiss", 2);
  await page.locator(".move").first().waitFor();
  await expect.poll(() => page.locator(".move").count()).toBe(4);
  await expect.poll(() => page.locator("[aria-live]").textContent()).toMatch(/^Player \d .* against Player \d/);
  await page.locator(".form-mark").first().click();
  await page.waitForURL(/\/leagues\/swiss\/matches\/R\d+M\d+$/);
});

it("on a projector the page shows all rows of all pages of a table in turn, without navigation and without scrolling", async () => {
  const page = await open("/leagues/large/standings?projector", PROJECTOR, (opened) => opened.clock.install());
  await page.locator(".standings").waitFor();
  expect(await page.getByRole("navigation").count()).toBe(0);
  await expect.poll(() => page.evaluate("document.documentElement.scrollHeight <= innerHeight")).toBe(true);
  const seen = new Set<string>();
  // The parts of the first page are repeated until the second one arrives.
  const shownSoFar = async (): Promise<number> => {
    const before = (await page.evaluate(VISIBLE)) as readonly string[];
    for (const name of before) seen.add(name);
    await page.clock.runFor(10_000);
    await expect.poll(() => page.evaluate(VISIBLE)).not.toEqual(before);
    return seen.size;
  };
  await expect.poll(shownSoFar).toBe(120);
});

/** The number of rows of rank 1, and that of rows whose name is bold. */
const LEADERS = `(() => {
  const rows = [...document.querySelectorAll(".standings tbody tr")];
  const weight = (row) => Number(getComputedStyle(row.querySelector("th")).fontWeight);
  return {
    first: rows.filter((row) => row.querySelector(".rank").textContent.startsWith("1")).length,
    bold: rows.filter((row) => weight(row) >= 600).length,
  };
})()`;

/** The names in the rows that are visible completely. */
const VISIBLE = `(() => {
  const { top, bottom } = document.querySelector(".stage").getBoundingClientRect();
  const rows = [...document.querySelectorAll("tbody tr")];
  return rows
    .filter((row) => row.getBoundingClientRect().top >= top && row.getBoundingClientRect().bottom <= bottom + 1)
    .map((row) => row.querySelector("bdi").textContent);
})()`;

it("on a projector the list of leagues is large, without navigation, and leads to leagues in the same form", async () => {
  const page = await open("/?projector", PROJECTOR);
  await page.locator(".projector .league-card").first().waitFor();
  expect(await page.getByRole("navigation").count()).toBe(0);
  expect(await page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")).toBeGreaterThan(20);
  await page.getByRole("link", { name: "swiss", exact: true }).click();
  await page.waitForURL(/\/leagues\/swiss\?projector$/);
});

it("on a projector the overview alternates between the standings and the last results", async () => {
  const page = await open("/leagues/swiss?projector", PROJECTOR, (opened) => opened.clock.install());
  await page.getByRole("heading", { name: /tandings/ }).waitFor();
  await page.clock.runFor(10_000);
  await page.getByRole("heading", { name: "Latest matches" }).waitFor();
  await page.clock.runFor(10_000);
  await page.getByRole("heading", { name: /tandings/ }).waitFor();
  await page.getByRole("link", { name: "Leave projector view" }).click();
  await page.getByRole("navigation", { name: "Sections of the league" }).waitFor();
});

it("on a phone the rank, the name and the points stay in view while the other columns scroll", async () => {
  const page = await open("/leagues/swiss/standings", { viewport: { width: 390, height: 844 }, isMobile: true });
  const points = page.locator("tbody .points").first();
  const before = await points.boundingBox();
  await page.evaluate('document.querySelector(".wide").scrollLeft = 200');
  await expect.poll(() => points.boundingBox()).toEqual(before);
  expect((before?.x ?? 0) + (before?.width ?? 0)).toBeLessThanOrEqual(390);
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(390);
});
