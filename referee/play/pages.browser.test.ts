import type { Browser, Page, Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { launchChromium } from "#shared/web/testing/chromium.ts";
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

/** A game between a person with a link and an agent that calls tools. */
interface PersonGame {
  readonly gameId: string;
  readonly link: string;
  /** Makes a move of the agent. */
  readonly answer: (move: unknown) => Promise<void>;
}

describe("the page of a game on a session host", () => {
  it("shows the moves of the person and the agent without a reload", async () => {
    const { link, answer } = await startGame();
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

  it("shows a spectator the moves live and offers no moves", async () => {
    const { gameId, link } = await startGame();
    const [player, watcher] = [await open(link), await open(`${host.url}/game/${gameId}`)];
    await status(watcher, "white to move");
    await move(player, "d2", "d4");
    await watcher.getByLabel("white pawn, d4, last move").waitFor();
    await watcher.click('[data-cell="e7"]');
    expect(await watcher.locator(".movable, .claim, .resign").count()).toBe(0);
  });

  it("shows the game with a note that the visitor only watches if the seat in the link is damaged", async () => {
    const { gameId, link, answer } = await startGame();
    const page = await open(link.slice(0, -1));
    await status(page, "white to move");
    await page.getByText("This link does not contain a seat in this game.").waitFor();
    expect(await page.locator(".movable, .claim, .resign").count()).toBe(0);
    const [player, watcher] = [await open(link), await open(`${host.url}/game/${gameId}`)];
    await move(player, "e2", "e4");
    await status(player, "Waiting for black");
    await answer("e7e5");
    for (const view of [player, watcher]) await view.getByLabel("black pawn, e5, last move").waitFor();
    for (const view of [player, watcher]) expect(await view.getByText("has no seat").count()).toBe(0);
  });

  it("rejects a false claim without a move and accepts a true one", async () => {
    const { link } = await startGame({ options: { fen: "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1" } });
    const page = await open(link);
    await page.getByRole("button", { name: "Claim checkmate" }).click();
    await move(page, "a1", "a7");
    await page.getByText("Your move does not end the game with checkmate, so it was not made.").waitFor();
    await page.getByLabel("white rook, a1").waitFor();
    await page.getByRole("button", { name: "Claim checkmate" }).click();
    await move(page, "a1", "a8");
    await page.locator(".result", { hasText: "You won Checkmate" }).waitFor();
  });

  it("asks for confirmation of a resignation and shows the winner on both sides", async () => {
    const { gameId, link } = await startGame();
    const [page, watcher] = [await open(link), await open(`${host.url}/game/${gameId}`)];
    await page.getByRole("button", { name: "Resign" }).click();
    await page.locator("button:focus", { hasText: "No, continue" }).click();
    await page.locator("button:focus", { hasText: "Resign" }).waitFor();
    await page.getByRole("button", { name: "Resign" }).click();
    await page.getByRole("button", { name: "Yes, resign" }).click();
    await page.locator(".result", { hasText: "You lost Resignation" }).waitFor();
    await watcher.locator(".result", { hasText: "Black (agent) won Resignation" }).waitFor();
    await expect.poll(() => page.locator(".claim, .resign").count()).toBe(0);
  });

  it("offers no moves until an agent has joined, and continues without a reload", async () => {
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

  it("closes its stream while the tab is hidden and updates when it is visible again", async () => {
    const { link, answer } = await startGame();
    const page = await open("about:blank");
    const streams = streamsOf(page);
    await page.goto(link);
    await move(page, "e2", "e4");
    await status(page, "Waiting for black");
    await expect.poll(streams).toBe(1);
    await hide(page, true);
    await expect.poll(streams).toBe(0);
    await answer("e7e5");
    expect(await page.locator(".status").textContent()).toBe("Waiting for black (agent)");
    await hide(page, false);
    await status(page, "Your move");
    await expect.poll(streams).toBe(1);
  });

  it("reconnects when the host is restarted", async () => {
    const stopped = await startTestHost();
    const { link, answer } = await startGame({ at: stopped });
    const page = await open(link);
    await status(page, "Your move");
    await stopped.stop();
    await page.getByText("The server does not answer. The page tries again every few seconds.").waitFor();
    await move(page, "d2", "d4");
    await page.getByText("Sending your move").waitFor({ state: "detached" });
    expect(await page.locator(".notice").allTextContents()).toEqual([
      "The server does not answer. The page tries again every few seconds.",
    ]);
    const restarted = await startTestHost({ port: stopped.port, dataFolder: stopped.dataFolder });
    try {
      await page.getByText("The server does not answer").waitFor({ state: "detached" });
      expect(await page.locator(".notice").count()).toBe(0);
      await move(page, "e2", "e4");
      await status(page, "Waiting for black");
      await answer("e7e6");
      await status(page, "Your move");
    } finally {
      await restarted.remove();
    }
  });

  it("shows the card of the own hand, and none to a spectator", async () => {
    const { gameId, link } = await startGame({ template: "kuhn_poker.v1" });
    const page = await open(link);
    const card = /jack|queen|king/i;
    await page.getByRole("region", { name: "Player 1" }).getByText(card).waitFor();
    expect(await page.getByRole("region", { name: "Player 2" }).innerText()).not.toMatch(card);
    const watcher = await open(`${host.url}/game/${gameId}`);
    await status(watcher, "player 1 to move");
    expect(await watcher.locator("body").innerText()).not.toMatch(card);
    await page.getByRole("button", { name: "check" }).click();
    await status(page, "Waiting for player 2");
  });

  it("keeps the own card of a hand that ended by a fold, also after a reload", async () => {
    const { gameId, link, answer } = await startGame({ template: "kuhn_poker.v1" });
    const [page, watcher] = [await open(link), await open(`${host.url}/game/${gameId}`)];
    const caption = page.getByRole("region", { name: "Player 1" }).locator(".caption");
    const card = ((await caption.textContent()) ?? "").split(" ")[0]?.toLowerCase();
    await page.getByRole("button", { name: "bet" }).click();
    await status(page, "Waiting for player 2");
    await answer("fold");
    const cells = (view: Page) => view.getByRole("region", { name: "Hands" }).getByRole("row").nth(1).locator("td");
    for (const _ of ["before", "after"]) {
      await expect.poll(() => cells(page).allTextContents()).toEqual([card, "–", "bet, fold", "You +1"]);
      await page.reload();
    }
    await expect.poll(() => cells(watcher).allTextContents()).toEqual(["–", "–", "bet, fold", "Guest +1"]);
  });

  it.each(["the person first", "the agent first"])(
    "accepts the choices of a simultaneous turn in both orders: %s",
    async (order) => {
      const { link, answer } = await startGame({ template: "rps.v1" });
      const page = await open(link);
      const choose = () => page.getByRole("button", { name: "rock" }).click();
      await status(page, "Your move");
      if (order === "the agent first") await answer("scissors");
      await choose();
      if (order === "the person first") await status(page, "Waiting for player 2").then(() => answer("scissors"));
      await page.locator(".result", { hasText: "You won" }).waitFor();
    },
  );

  it("sends requests to its server only, and no URL contains the token of the seat", async () => {
    const { link } = await startGame();
    const page = await (await browser.newContext()).newPage();
    const urls: string[] = [];
    page.on("request", (request) => urls.push(request.url()));
    await page.goto(link);
    await status(page, "Your move");
    const token = link.split("#seat=")[1] ?? "";
    expect(token).not.toBe("");
    // Playwright reports a URL with its fragment, which the browser does not send.
    const sent = urls.map((url) => url.split("#")[0] ?? "").filter((url) => !url.startsWith("data:"));
    expect(sent.filter((url) => !url.startsWith(host.url) || url.includes(token))).toEqual([]);
  });
});

describe("the list of games", () => {
  it("shows new games without a reload, with links to them", async () => {
    const page = await open(`${host.url}/`);
    const { gameId } = await startGame({ template: "connect_four.v1", name: "Newcomer" });
    const row = page.locator("li", { hasText: "Newcomer" });
    await row.waitFor();
    await row.getByRole("link").click();
    await page.waitForURL(`**/game/${gameId}`);
    await page.getByRole("group", { name: "Connect Four board" }).waitFor();
  });

  it("starts a game against a bot that answers", async () => {
    const page = await open(`${host.url}/`);
    await page.getByRole("radio", { name: "Tic-tac-toe" }).check();
    await page.getByRole("radio", { name: /Minimax/ }).check();
    await page.getByRole("button", { name: "Start the game" }).click();
    await page.waitForURL(/\/game\/.+#seat=/);
    await page.getByLabel("b2, empty").click();
    await page.getByLabel(/^[abc][123], o, last move$/).waitFor();
    await page.getByLabel("b2, x").waitFor();
    await status(page, "Your move");
  });

  it("keeps the host name under which it was opened when it starts a game", async () => {
    const { json } = await host.call("POST", "/api/games", { body: { template: "chess", opponent: "greedy" } });
    expect(new URL(json.link).host).toBe(`127.0.0.1:${host.port}`);
    const page = await open(`http://localhost:${host.port}/`);
    await page.getByRole("radio", { name: /Greedy/ }).check();
    await page.getByRole("button", { name: "Start the game" }).click();
    await page.waitForURL(/\/game\/.+#seat=/);
    expect(new URL(page.url()).host).toBe(`localhost:${host.port}`);
    await status(page, "Your move");
  });
});

/** Starts a game of a person, through the routes of the pages, against an agent that joins with joinGame. */
async function startGame(
  wanted: { template?: string; options?: object; name?: string; at?: TestHost } = {},
): Promise<PersonGame> {
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

/** Makes the page believe that its tab is hidden, because a test cannot hide a tab. */
const hide = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));`);

/** Returns a function that counts the open event streams of a page. */
function streamsOf(page: Page): () => number {
  let open = 0;
  const isStream = (request: Request): boolean => request.url().endsWith("/events");
  page.on("request", (request) => void (isStream(request) && open++));
  for (const end of ["requestfailed", "requestfinished"] as const) {
    page.on(end as "requestfailed", (request) => void (isStream(request) && open--));
  }
  return () => open;
}
