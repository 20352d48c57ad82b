import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { HOSTILE, reportForP01 } from "../../../league-manager/testing/forfeits.ts";
import { startTestManager } from "../../../league-manager/testing/test-manager.ts";
import { type ReportedLeagues, startReportedLeagues } from "../../testing/reported-leagues.ts";

/** The folder for screenshots; none are written if it is not set. */
const FOLDER = process.env.SCREENSHOTS;
const HTML_NAME = "<img src=x onerror=document.title='hacked'>";
const PHONE = { viewport: { width: 390, height: 844 } };

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

async function openPage(url: string, options: object = {}): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(url);
  return page;
}

/** A league with the first of six results, and one that has not started. */
async function startLeagues(): Promise<ReportedLeagues> {
  const leagues = await startReportedLeagues([
    { league_id: "rps", game: "rps.v1", players: ["Ann", "مريم العلي", HTML_NAME, "Dan"], results: 1 },
    { league_id: "late", game: "rps.v1", players: ["Eve", "Fay"], missing: 5 },
  ]);
  onTestFinished(() => leagues.close());
  return leagues;
}

async function unlock(page: Page, token: string): Promise<void> {
  await page.getByLabel("Operator token").fill(token);
  await page.keyboard.press("Enter");
}

/** Checks accessibility and the width of a page, and writes a screenshot if FOLDER is set. */
async function inspect(page: Page, name: string): Promise<void> {
  if (FOLDER) {
    mkdirSync(FOLDER, { recursive: true });
    await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
  }
  expect(await axeFaults(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
}

const notice = (page: Page, text: string): Promise<void> =>
  page.locator(".operator-notice", { hasText: text }).waitFor();

it("the operator pauses, resumes and ends a league by keyboard; each change is shown live", async () => {
  const leagues = await startLeagues();
  const page = await openPage(`${leagues.url}/leagues/rps`);
  await page.getByRole("link", { name: "Operator" }).click();
  await unlock(page, leagues.operatorToken);
  await page.getByRole("button", { name: "Pause the league" }).press("Enter");
  await page.locator(".badge", { hasText: "Paused" }).waitFor();
  await notice(page, "The league is paused.");
  await page.getByRole("button", { name: "Resume the league" }).press("Enter");
  await page.locator(".badge", { hasText: "Running" }).waitFor();
  await inspect(page, "operator-running");
  await page.getByRole("button", { name: "End the league", exact: true }).press("Enter");
  await page.getByText("This cannot be undone.").waitFor();
  await page.getByRole("button", { name: "End now" }).press("Enter");
  await page.locator(".badge", { hasText: "Completed" }).waitFor();
  await page.getByText("Its results cannot be changed").waitFor();
});

it("the operator starts a league, removes and adds players, extends it, annuls a match and plays it again", async () => {
  const leagues = await startLeagues();
  const page = await openPage(`${leagues.url}/leagues/late/operator`, PHONE);
  await inspect(page, "operator-locked-phone");
  await unlock(page, leagues.operatorToken);
  await page.getByLabel("Id of a registered player").fill("Ann");
  await page.getByRole("button", { name: "Add the player" }).click();
  await page.locator(".league-progress", { hasText: /^3 of \d+ players are registered/ }).waitFor();
  expect(await page.locator(".league-facts", { hasText: /\d players/ }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Operator" }).count()).toBe(0);
  await page.getByRole("button", { name: "Start the league" }).click();
  await page.getByRole("button", { name: "Start now" }).click();
  await page.locator(".badge", { hasText: "Running" }).waitFor();

  await page.goto(`${leagues.url}/leagues/rps/operator?match=R1M1`);
  await unlock(page, leagues.operatorToken);
  const cycles = page.getByLabel("New number of cycles");
  const extend = page.getByRole("button", { name: "Extend the league" });
  await cycles.fill("1");
  await extend.click();
  await page.getByText("The number of cycles must be a whole number of at least 2.").waitFor();
  await cycles.fill("");
  await cycles.pressSequentially("12");
  await expect.poll(() => cycles.inputValue()).toBe("12");
  await extend.click();
  await page.getByText("Extend to 12 cycles (72 matches)?").waitFor();
  await page.getByRole("button", { name: "Keep the number" }).click();
  await cycles.fill("2");
  await extend.click();
  await page.getByText("Extend to 2 cycles (12 matches)?").waitFor();
  await page.getByRole("button", { name: "Extend", exact: true }).click();
  await notice(page, "The number of cycles is now 2.");
  await page.getByLabel("Reason (public)").fill("wrong opening");
  await page.getByRole("button", { name: "Annul R1M1" }).click();
  await page.getByRole("button", { name: "Annul", exact: true }).click();
  await notice(page, "R1M1 is annulled.");
  await page.getByLabel("Player 1").selectOption({ index: 1 });
  await page.getByLabel("Player 2").selectOption({ index: 2 });
  await inspect(page, "operator-phone");
  await page.getByRole("button", { name: "Add the match" }).click();
  await notice(page, "The match is added to round 1.");

  const removal = page.getByRole("region", { name: "Remove a player" });
  await removal.getByLabel("Player").selectOption({ label: `${HTML_NAME} (P03)` });
  await removal.getByRole("button", { name: "Remove the player" }).click();
  await expect.poll(() => removal.locator("legend").textContent()).toBe(`Remove ${HTML_NAME} (P03)?`);
  await inspect(page, "operator-confirm-phone");
  await removal.getByRole("button", { name: "Remove", exact: true }).click();
  await notice(page, `${HTML_NAME} is removed.`);
  expect(await page.title()).not.toBe("hacked");
  // A match that does not exist is named before anything is asked.
  await page.getByLabel("Match, for example R2M1").fill("R99M1");
  await page.getByLabel("Reason (public)").fill("none");
  await page.getByRole("button", { name: "Annul R99M1" }).click();
  await page.getByText("There is no match R99M1 in this league.").waitFor();
  expect(await page.getByRole("button", { name: "Annul", exact: true }).count()).toBe(0);
});

it("the token is kept in the memory of the page only, and a reload or a way back asks again", async () => {
  const leagues = await startLeagues();
  const page = await openPage(`${leagues.url}/leagues/rps/operator`);
  const requests: string[] = [];
  page.on("request", (request) => requests.push(`${request.url()} ${request.postData() ?? ""}`));
  await unlock(page, "wrong");
  await notice(page, "This is not the operator token of this manager.");
  await unlock(page, leagues.operatorToken);
  await notice(page, "The token is accepted.");
  const kept = await page.evaluate(`[document.documentElement.outerHTML, location.href, document.cookie,
    JSON.stringify(localStorage), JSON.stringify(sessionStorage), JSON.stringify(history.state),
    ...[...document.querySelectorAll("input")].map((one) => one.value)].join("\\n")`);
  expect(kept).not.toContain(leagues.operatorToken);
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.filter((request) => request.includes(leagues.operatorToken))).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);
  await page.reload();
  await page.getByLabel("Operator token").waitFor();
  await unlock(page, leagues.operatorToken);
  await page.getByRole("button", { name: "Pause the league" }).waitFor();
  await page.getByRole("link", { name: "Leagues", exact: true }).click();
  await page.locator(".leagues").waitFor();
  await page.goBack();
  await page.getByLabel("Operator token").waitFor();
  expect(await page.getByRole("button", { name: "Pause the league" }).count()).toBe(0);
});

it("a page of another site can neither show the operator's page in a frame nor call the manager", async () => {
  const leagues = await startLeagues();
  const other = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end(`<iframe src="${leagues.url}/leagues/rps/operator"></iframe>`),
  );
  onTestFinished(() => void other.close().closeAllConnections());
  const page = await openPage(`http://localhost:${await listenOnLoopback(other)}/`);
  await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "pause_league", arguments: { league_id: "rps" } },
  };
  for (const type of ["application/json", "text/plain"]) {
    const headers = {
      "content-type": type,
      ...(type === "application/json" && { authorization: `Bearer ${leagues.operatorToken}` }),
    };
    const init = { method: "POST", headers, body: JSON.stringify(call) };
    const sent = page.evaluate(`fetch(${JSON.stringify(`${leagues.url}/mcp`)}, ${JSON.stringify(init)})`);
    await expect(sent).rejects.toThrow("Failed to fetch");
  }
  const document = await (await fetch(`${leagues.url}/api/leagues/rps/operator`)).json();
  expect(document).toMatchObject({ league: { status: "running" } });
});

it.each([
  ["desktop", {}],
  ["phone", { ...PHONE, colorScheme: "dark" }],
])("on a %s the last error of a player is text, with its control characters as escapes", async (look, options) => {
  const manager = await startTestManager([{ league_id: "rps", game: "rps.v1", min_players: 2 }]);
  onTestFinished(() => manager.stop());
  await manager.register("REF01", "P01", "P02");
  const times = { turns: 40, median_ms: 12, p95_ms: 310, max_ms: 2_480, max_tick: 7, invalid: 1 };
  await reportForP01(manager, "R1M1", { isForfeit: true, more: { answer_times: { P02: times } } });
  const page = await openPage(`http://127.0.0.1:${manager.port}/leagues/rps/players/P02`, options);
  const answer = page.getByRole("region", { name: "Answer of the player" });
  await answer.waitFor();
  expect(HOSTILE).toMatch(/<img/);
  await expect
    .poll(() => answer.textContent())
    .toBe('<img src=x onerror=alert(1)> \\u{1b}[31m \\u{202e} {"move": "rock"}');
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.locator("body").innerText()).not.toContain("\u202e");
  await page.getByText("The position as the bot received it").click();
  await page.locator(".player-times", { hasText: "2.5 s" }).waitFor();
  await inspect(page, `player-error-${look}`);
});
