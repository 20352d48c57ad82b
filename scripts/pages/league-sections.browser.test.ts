import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { drawn, launchChromium } from "#shared/web/testing/chromium.ts";
import { type ReportedLeagues, startReportedLeagues } from "../testing/reported-leagues.ts";

const PLAYERS = Array.from({ length: 12 }, (_, index) => `Player ${index + 1}`);
const game = "rps.v1";

let browser: Browser;
let leagues: ReportedLeagues;
beforeAll(async () => {
  browser = await launchChromium();
  const named = (suffix: string, count = PLAYERS.length) => PLAYERS.slice(0, count).map((name) => `${name}${suffix}`);
  leagues = await startReportedLeagues(
    [
      { league_id: "table", game, players: named(""), results: 12 },
      { league_id: "rounds", game, players: named(" r"), results: 7 },
      { league_id: "tree", game, format: "single-elimination", players: named(" t", 6), results: 0 },
      { league_id: "lines", game, players: named(" l"), results: 12 },
      { league_id: "final", game, players: ["مريم العلي", "Ben", "Cleo", "Dan"] },
      {
        league_id: "large",
        game,
        format: "double-elimination",
        results: 0,
        players: Array.from({ length: 32 }, (_, index) => `Player ${index + 1} of 32`),
      },
      { league_id: "filling", game, players: ["Eva", "Finn"], missing: 2 },
    ],
    { endpoint: "http://league.example/mcp" },
  );
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser.close();
  await leagues.close();
});

async function open(path: string, width = 1280): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width, height: 800 } })).newPage();
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.goto(`${leagues.url}/leagues/${path}`);
  await drawn(page);
  return page;
}

const results = (page: Page): Promise<number> => page.locator(".crosstable-grid td a").count();

describe("the crosstable", () => {
  it("shows results as they are recorded, and keeps the focus and all cells that have not changed", async () => {
    const page = await open("table/crosstable");
    await expect.poll(() => results(page)).toBe(24);
    await page.locator(".crosstable-grid td a").first().focus();
    const focused = (): Promise<unknown> => page.evaluate("document.activeElement.getAttribute('href')");
    const before = await focused();
    await page.evaluate("for (const cell of document.querySelectorAll('.crosstable-grid td')) cell.isOld = true");
    await leagues.report("table", 1);
    await expect.poll(() => results(page)).toBe(26);
    const isOld = "[...document.querySelectorAll('.crosstable-grid td')].every((cell) => cell.isOld)";
    await expect.poll(() => page.evaluate(isOld)).toBe(true);
    expect(before).toContain("/matches/");
    await expect.poll(() => focused()).toBe(before);
  });

  it("moves between results by the arrow keys, with one tab stop, and names both players", async () => {
    const page = await open("table/crosstable");
    await page.locator(".crosstable-grid td a").first().focus();
    const position = (): Promise<unknown> =>
      page.evaluate(
        "(({ cellIndex, parentElement }) => [parentElement.sectionRowIndex, cellIndex])(document.activeElement.closest('td'))",
      );
    const [row, column] = (await position()) as [number, number];
    await page.keyboard.press("ArrowDown");
    const [nextRow, sameColumn] = (await position()) as [number, number];
    expect(nextRow).toBeGreaterThan(row);
    expect(sameColumn).toBe(column);
    await expect.poll(() => page.locator('.crosstable-grid td a[tabindex="0"]').count()).toBe(1);
    await expect
      .poll(() => page.locator(".crosstable-at").textContent())
      .toMatch(/^Player \d+ against Player \d+: (won|drawn|lost)/);
    await expect.poll(() => page.locator("col.at").count()).toBe(1);
    await expect.poll(() => page.locator("tbody tr.at").count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.waitForURL(/matches\/R\d+M\d+$/);
  });

  it("keeps names and points in view on a phone", async () => {
    const page = await open("table/crosstable", 390);
    await page.locator(".crosstable-grid").waitFor();
    await page.evaluate("document.querySelector('.crosstable-region').scrollLeft = 500");
    const name = await page.locator(".crosstable-grid tbody th").first().boundingBox();
    expect(name?.x).toBeLessThan(40);
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  });
});

describe("the schedule", () => {
  it("follows the round that is played, and has links to other rounds", async () => {
    const page = await open("rounds/schedule");
    await page.getByRole("heading", { name: "Round 2", exact: true }).waitFor();
    await expect.poll(() => page.locator(".schedule-match.is-playing").count()).toBe(5);
    await leagues.report("rounds", 5);
    await page.getByRole("heading", { name: "Round 3", exact: true }).waitFor();
    await page.getByRole("link", { name: "First round" }).click();
    await page.getByRole("heading", { name: "Round 1", exact: true }).waitFor();
    await expect.poll(() => page.locator(".schedule-match.is-completed").count()).toBe(6);
    await page.getByText("All rounds").click();
    await page.getByRole("link", { name: /^Round 11/ }).click();
    await page.locator(".schedule-match.is-scheduled").first().waitFor();
  });
});

describe("the bracket", () => {
  it("fills with results and ends with the winner", async () => {
    const page = await open("tree/bracket");
    const tie = page.locator(".tie.is-playing").first();
    await tie.waitFor();
    await expect.poll(() => page.locator(".tie", { hasText: "Bye" }).count()).toBe(2);
    await expect.poll(() => page.getByText("Winner of semi-final 1").count()).toBe(1);
    await leagues.finish("tree");
    await page.locator(".winners", { hasText: /Winner\s*Player/ }).waitFor();
    // The style of the page has the panel.
    expect(await page.evaluate("getComputedStyle(document.querySelector('.winners')).display")).toBe("flex");
    await expect.poll(() => page.locator(".tie.is-decided").count()).toBe(7);
  });
});

describe("ratings and points", () => {
  it("say that orders are not decided yet, with an interval for each player", async () => {
    const page = await open("lines/ratings");
    await page.locator(".ratings").waitFor();
    await expect.poll(() => page.locator("svg.interval").count()).toBe(12);
    await expect.poll(() => page.getByText("not decided yet").count()).toBe(11);
  });

  it("draw chosen players in colour, and keep the choice in the address", async () => {
    const page = await open("lines/points");
    await page.locator(".points-chart .series-6").waitFor({ state: "attached" });
    await expect.poll(() => page.locator(".points-chart .series").count()).toBe(12);
    const first = page.locator(".points-choice input").first();
    await first.uncheck();
    await expect.poll(() => page.locator(".points-chart .series-6").count()).toBe(0);
    await page.locator(".points-choice input").last().check();
    await page.locator(".points-chart .series-6").waitFor({ state: "attached" });
    const chosen = () => new URL(page.url()).searchParams.get("players")?.split(",");
    await expect.poll(chosen).toHaveLength(6);
    await page.reload();
    await page.locator(".points-chart .series-6").waitFor({ state: "attached" });
    await expect.poll(() => page.locator(".points-choice input").last().isChecked()).toBe(true);
    await expect.poll(() => first.isChecked()).toBe(false);
  });
});

describe("the bracket on a projector", () => {
  it.each([
    ["tree", 1920, 1080],
    ["tree", 1280, 720],
    ["large", 1920, 1080],
  ])("of the league %s is shown as a whole, with the final, in %i × %i px", async (id, width, height) => {
    const page = await (await browser.newContext({ viewport: { width, height } })).newPage();
    await page.goto(`${leagues.url}/leagues/${id}/bracket?projector`);
    await page.locator(".stage .tie").first().waitFor();
    const hidden = (): Promise<unknown> =>
      page.evaluate(`(() => {
        const stage = document.querySelector(".stage").getBoundingClientRect();
        const isInside = ({ left, right, top, bottom }) =>
          left >= stage.left - 1 && right <= stage.right + 1 && top >= stage.top - 1 && bottom <= stage.bottom + 1;
        return [...document.querySelectorAll(".stage .tie > ul")].filter((tie) => !isInside(tie.getBoundingClientRect())).length;
      })()`);
    await expect.poll(() => hidden()).toBe(0);
    // The trees of a large bracket follow each other.
    const final = page.getByRole("heading", { name: /^(Final|Grand final)$/ }).first();
    await final.waitFor({ timeout: WAIT_MS });
    await expect.poll(() => hidden()).toBe(0);
    expect(await page.evaluate("document.querySelector('.stage').style.clipPath")).toBe("");
  });
});

describe("standings", () => {
  it("mark an unchanged rank with = while the league is running, and not when it is over", async () => {
    const running = await open("table/standings");
    await expect.poll(() => running.locator(".move-same").count()).toBeGreaterThan(0);
    const over = await open("final/standings");
    await expect.poll(() => over.locator("tbody tr").count()).toBe(4);
    expect(await over.locator(".move-same").count()).toBe(0);
  });

  it("show each name in the direction of its script", async () => {
    const page = await open("final/standings");
    const directions = (): Promise<unknown> =>
      page.evaluate(
        "[...document.querySelectorAll('.player-name bdi')].map((link) => link.textContent + ' ' + getComputedStyle(link).direction).sort()",
      );
    await page.locator(".player-name").first().waitFor();
    expect(await directions()).toEqual(["Ben ltr", "Cleo ltr", "Dan ltr", "مريم العلي rtl"]);
    await page.goto(`${leagues.url}/play?league=filling`);
    const field = page.locator("input[name=name]");
    await field.fill("مريم");
    expect(await page.evaluate("getComputedStyle(document.querySelector('input[name=name]')).direction")).toBe("rtl");
  });
});

it("a command is copied on a page without a secure context, as in the network of a class", async () => {
  const other = await launchChromium(["--host-resolver-rules=MAP league.example 127.0.0.1"]);
  onTestFinished(() => other.close());
  const page = await (await other.newContext()).newPage();
  await page.goto(`http://league.example:${new URL(leagues.url).port}/leagues/filling`);
  await drawn(page);
  expect(await page.evaluate("isSecureContext")).toBe(false);
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), { id: 'pasted' }))");
  await page.locator("#pasted").press("Control+v");
  expect(await page.locator("#pasted").inputValue()).toMatch(
    /^npm run league -- join \.\/my-bot\/bot\.ts --name YOUR_NAME --manager http:/,
  );
});
