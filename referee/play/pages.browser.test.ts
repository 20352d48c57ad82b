import type { Browser, Page, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually, launchChromium } from "#shared/web/testing/chromium.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { toolResult } from "./testing/tools.ts";

let browser: Browser;
let host: TestHost;
beforeAll(async () => {
  [browser, host] = await Promise.all([launchChromium(), startTestHost()]);
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser.close();
  await host.remove();
});

/** A game between a person with a link and somebody who calls tools. */
interface Friendly {
  readonly gameId: string;
  readonly link: string;
  /** The other's move. */
  readonly answer: (move: unknown) => Promise<void>;
}

describe("the page of a game, on a real host", () => {
  it("a person moves, the other answers, and it shows without a reload", async () => {
    const { link, answer } = await friendly();
    const page = await open(link);
    await status(page, "Your move");
    await move(page, "e2", "e4");
    await status(page, "Waiting for black");
    await answer("e7e5");
    await status(page, "Your move");
    await page.getByLabel("black pawn, e5, last move").waitFor();
    // The title is set after the page is drawn.
    await expect.poll(() => page.title()).toBe("Your move · Chess");
  });

  it("a spectator sees it live and cannot move", async () => {
    const { gameId, link } = await friendly();
    const [player, watcher] = [await open(link), await open(`${host.url}/game/${gameId}`)];
    await status(watcher, "white (human) to move");
    await move(player, "d2", "d4");
    await watcher.getByLabel("white pawn, d4, last move").waitFor();
    await watcher.click('[data-cell="e7"]');
    expect(await watcher.locator(".movable, .claim, .resign").count()).toBe(0);
  });

  it("a link whose seat was cut off or copied wrongly shows the game, and says that one only watches", async () => {
    const { gameId, link, answer } = await friendly();
    const page = await open(link.slice(0, -1));
    await status(page, "white (human) to move");
    await page.getByText("This link names no seat of this game, so you are watching.").waitFor();
    expect(await page.locator(".movable, .claim, .resign").count()).toBe(0);
    const [player, watcher] = [await open(link), await open(`${host.url}/game/${gameId}`)];
    await move(player, "e2", "e4");
    await status(player, "Waiting for black");
    await answer("e7e5");
    for (const one of [player, watcher]) await one.getByLabel("black pawn, e5, last move").waitFor();
    for (const one of [player, watcher]) expect(await one.getByText("names no seat").count()).toBe(0);
  });

  it("a false claim is told and moves nothing, a true one wins", async () => {
    const { link } = await friendly({ options: { fen: "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1" } });
    const page = await open(link);
    await page.getByRole("button", { name: "Move & claim checkmate" }).click();
    await move(page, "a1", "a7");
    await page.getByText("Accusation failed: Not checkmate").waitFor();
    await page.getByLabel("white rook, a1").waitFor();
    await page.getByRole("button", { name: "Move & claim checkmate" }).click();
    await move(page, "a1", "a8");
    await page.locator(".result", { hasText: "white (human) wins: checkmate" }).waitFor();
  });

  it("a person resigns after a second question, and both sides see who has won", async () => {
    const { gameId, link } = await friendly();
    const [page, watcher] = [await open(link), await open(`${host.url}/game/${gameId}`)];
    await page.getByRole("button", { name: "Resign" }).click();
    await page.getByRole("button", { name: "No, play on" }).click();
    await page.getByRole("button", { name: "Resign" }).click();
    await page.getByRole("button", { name: "Yes, resign" }).click();
    for (const one of [page, watcher]) {
      await one.locator(".result", { hasText: "black (agent) wins by resignation" }).waitFor();
    }
    expect(await page.locator(".claim, .resign").count()).toBe(0);
  });

  it("waits for an agent to join, takes no move before, and goes on without a reload", async () => {
    const { json } = await host.call("POST", "/api/games", { body: { template: "chess", opponent: "agent" } });
    const [page, list] = [await open(json.link), await open(`${host.url}/`)];
    await status(page, "Waiting for black to join");
    await list.locator(`li:has(a[href="/game/${json.game_id}"])`, { hasText: "Waiting for players" }).waitFor();
    expect(await page.locator(".movable, .claim, .resign").count()).toBe(0);
    await callTool(host, "joinGame", { game_id: json.game_id });
    await status(page, "Your move");
    await move(page, "e2", "e4");
    await status(page, "Waiting for black (agent)");
  });

  it("closes its stream while the tab is hidden, and is up to date when it is seen again", async () => {
    const { link, answer } = await friendly();
    const page = await open("about:blank");
    const streams = streamsOf(page);
    await page.goto(link);
    await move(page, "e2", "e4");
    await status(page, "Waiting for black");
    await eventually(() => expect(streams()).toBe(1));
    await hide(page, true);
    await eventually(() => expect(streams()).toBe(0));
    await answer("e7e5");
    expect(await page.locator(".status").textContent()).toBe("Waiting for black (agent)");
    await hide(page, false);
    await status(page, "Your move");
    await eventually(() => expect(streams()).toBe(1));
  });

  it("comes back by itself when the host was away", async () => {
    const away = await startTestHost();
    const { link, answer } = await friendly({ at: away });
    const page = await open(link);
    await status(page, "Your move");
    await away.stop();
    await page.getByText("The connection to the server has gone; trying again.").waitFor();
    const again = await startTestHost({ port: away.port, dataFolder: away.dataFolder });
    try {
      await page.getByText("The connection to the server has gone").waitFor({ state: "detached" });
      await move(page, "e2", "e4");
      await status(page, "Waiting for black");
      await answer("e7e6");
      await status(page, "Your move");
    } finally {
      await again.remove();
    }
  });

  it("does not show a hand, not even the one it could be asked for", async () => {
    const { gameId, link } = await friendly({ template: "kuhn_poker.v1" });
    const page = await open(link);
    await page.getByText("player_1 holds the").waitFor();
    const watcher = await open(`${host.url}/game/${gameId}`);
    await status(watcher, "player 1 (human) to move");
    expect(await watcher.locator("body").innerText()).not.toContain("holds the");
    await page.getByRole("button", { name: "check" }).click();
    await status(page, "Waiting for player 2");
  });

  it.each(["the person first", "the other first"])("choices made at the same time: %s", async (order) => {
    const { link, answer } = await friendly({ template: "rps.v1" });
    const page = await open(link);
    const choose = () => page.getByRole("button", { name: "rock" }).click();
    await status(page, "Your move");
    if (order === "the other first") await answer("scissors");
    await choose();
    if (order === "the person first") await status(page, "Waiting for player 2").then(() => answer("scissors"));
    await page.locator(".result", { hasText: "player 1 (human) wins" }).waitFor();
  });

  it("asks nobody but its own server, and keeps the seat's secret out of every address", async () => {
    const { link } = await friendly();
    const page = await (await browser.newContext()).newPage();
    const urls: string[] = [];
    page.on("request", (request) => urls.push(request.url()));
    await page.goto(link);
    await status(page, "Your move");
    const token = link.split("#seat=")[1] ?? "";
    expect(token).not.toBe("");
    // Playwright tells an address with its fragment; the browser does not send it.
    const sent = urls.map((url) => url.split("#")[0] ?? "").filter((url) => !url.startsWith("data:"));
    expect(sent.filter((url) => !url.startsWith(host.url) || url.includes(token))).toEqual([]);
  });
});

describe("the list of games", () => {
  it("tells of new games while it is open, and leads to them", async () => {
    const page = await open(`${host.url}/`);
    const { gameId } = await friendly({ template: "connect_four.v1", name: "Newcomer" });
    const row = page.locator("li", { hasText: "Newcomer" });
    await row.waitFor();
    await row.getByRole("link").click();
    await page.waitForURL(`**/game/${gameId}`);
    await page.getByRole("grid", { name: "Connect Four board" }).waitFor();
  });

  it("begins a game against a bot, which answers", async () => {
    const page = await open(`${host.url}/`);
    await page.getByLabel("Play").selectOption("Tic-tac-toe");
    await page.getByRole("button", { name: "Start against a bot" }).click();
    await page.waitForURL(/\/game\/.+#seat=/);
    await page.getByLabel("b2, empty").click();
    await page.getByLabel("b2, x").waitFor();
    await status(page, "Your move");
    expect(await page.locator(".mark-o").count()).toBe(1);
  });

  it("stays at the address by which it was opened when it begins a game, although the server's link names another", async () => {
    const { json } = await host.call("POST", "/api/games", { body: { template: "chess", opponent: "greedy" } });
    expect(new URL(json.link).host).toBe(`127.0.0.1:${host.port}`);
    const page = await open(`http://localhost:${host.port}/`);
    await page.getByRole("button", { name: "Start against a bot" }).click();
    await page.waitForURL(/\/game\/.+#seat=/);
    expect(new URL(page.url()).host).toBe(`localhost:${host.port}`);
    await status(page, "Your move");
  });
});

/** A game that a person begins through the routes of the pages against another agent, who joins by its tool. */
async function friendly(
  wanted: { template?: string; options?: object; name?: string; at?: TestHost } = {},
): Promise<Friendly> {
  const { template = "chess.v1", options, name, at = host } = wanted;
  const body = { template, opponent: "agent", ...(options && { options }), ...(name && { name }) };
  const { json } = await at.call("POST", "/api/games", { body });
  const gameId: string = json.game_id;
  const { seat_token } = await callTool(at, "joinGame", { game_id: gameId });
  const answer = async (move: unknown): Promise<void> => {
    await callTool(at, "finishTurn", { game_id: gameId, seat_token, move });
  };
  return { gameId, link: json.link, answer };
}

async function callTool(at: TestHost, name: string, args: object): Promise<Record<string, string>> {
  const result = await toolResult(at, name, args);
  if (result.isError) throw new Error(result.content[0]?.text);
  return result.structuredContent;
}

async function open(url: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  return page;
}

async function move(page: Page, from: string, to: string): Promise<void> {
  await page.click(`[data-cell="${from}"]`);
  await page.click(`[data-cell="${to}"]`);
}

const status = (page: Page, text: string): Promise<void> => page.locator(".status", { hasText: text }).waitFor();

/** A tab cannot be hidden for a test: the page is told that it is. */
const hide = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));`);

/** Counts the event streams that a page holds open. */
function streamsOf(page: Page): () => number {
  let open = 0;
  const isStream = (request: Request): boolean => request.url().endsWith("/events");
  page.on("request", (request) => void (isStream(request) && open++));
  for (const end of ["requestfailed", "requestfinished"] as const) {
    page.on(end as "requestfailed", (request) => void (isStream(request) && open--));
  }
  return () => open;
}
