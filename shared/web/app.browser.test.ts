import { createServer } from "node:http";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { listenOnLoopback } from "../rpc/testing/loopback.ts";
import { type App, type AppOptions, openApp, toolError } from "./testing/app.ts";
import { launchChromium } from "./testing/chromium.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(() => browser.close());

const open = (options?: AppOptions) => openApp(browser, options);
const cell = (square: string): string => `[data-cell="${square}"]`;
const NO_BOX = { x: 0, y: 0, width: 0, height: 0 };
const statusOf = (app: App, text: string): Promise<void> => app.frame.locator(".status", { hasText: text }).waitFor();
/** Resolves when the host has given the frame the height of the board. Positions on the board change until then. */
async function isFitted(app: App): Promise<void> {
  await app.frame.locator(".board").waitFor();
  const fitted = '[innerHeight, document.querySelector(".board").getBoundingClientRect().bottom <= innerHeight]';
  await expect
    .poll(async () => [app.sizes.at(-1)?.height, ...(await app.frame.evaluate<unknown[]>(fitted))])
    .toSatisfy(([reported, height, isWhole]) => reported === height && isWhole);
}

/** Returns the calls that submit moves, without the calls that wait for a turn. */
const moves = (app: App) => app.calls.filter(({ name }) => name === "finishTurn");

describe("the chess board as an MCP App, in a sandboxed frame with the official bridge", () => {
  it("moves by two clicks, sends a message to the model, waits for its move and continues", async () => {
    const app = await open();
    await app.frame.click(cell("g1"));
    await expect.poll(() => app.frame.locator(".target").count()).toBe(2);
    await app.frame.click(cell("e2"));
    await app.frame.click(cell("e4"));
    await statusOf(app, "Waiting for black (Claude)");
    expect(moves(app)).toEqual([
      { name: "finishTurn", arguments: { game_id: "g_test", move: "e2e4", seat_token: "seat-token" } },
    ]);
    await expect.poll(() => app.messages[0]).toMatchObject({ role: "user", content: [{ type: "text" }] });
    expect(app.messages[0]?.content[0]?.text).toMatch(/^I played e2e4 as white in game g_test\./);
    await expect
      .poll(() => app.calls.at(-1))
      .toEqual({
        name: "waitForNextTurn",
        arguments: { game_id: "g_test", seat_token: "seat-token", timeout_s: 25 },
      });
    app.game.play("black", "e7e5");
    await statusOf(app, "Your move");
    await app.frame.getByLabel("black pawn, e5, last move").waitFor();
    await expect.poll(() => app.frame.locator("[aria-live]").textContent()).toBe("black: pawn e7 to e5. Your move");
  });

  it("moves by dragging, and ignores an illegal drop", async () => {
    const app = await open();
    await isFitted(app);
    const drag = async (from: string, to: string): Promise<void> => {
      await app.frame.locator(cell(from)).hover();
      await app.page.mouse.down();
      await app.frame.locator(cell(to)).hover();
      await expect.poll(() => app.frame.locator(".dragged-piece").count()).toBe(1);
      await app.page.mouse.up();
    };
    await drag("g1", "g5");
    await drag("g1", "f3");
    await app.frame.getByLabel("white knight, f3, last move").waitFor();
    expect(moves(app).map((call) => call.arguments.move)).toEqual(["g1f3"]);
  });

  it("moves by the keyboard only, with a visible focus", async () => {
    const app = await open();
    await app.frame.locator(cell("e1")).waitFor();
    await app.page.keyboard.press("Tab");
    const focused = (): Promise<unknown> => app.frame.evaluate("document.activeElement.getAttribute('aria-label')");
    await expect.poll(() => focused()).toBe("white king, e1");
    await app.page.keyboard.press("ArrowUp");
    await app.page.keyboard.press("ArrowLeft");
    await expect.poll(() => focused()).toBe("white pawn, d2");
    await expect
      .poll(() => app.frame.evaluate("getComputedStyle(document.activeElement).boxShadow"))
      .toContain("inset");
    await app.page.keyboard.press("Enter");
    await app.frame.getByLabel("d4, empty, can move here").waitFor();
    await app.page.keyboard.press("Escape");
    await expect.poll(() => app.frame.locator(".target").count()).toBe(0);
    await app.page.keyboard.press("Space");
    await app.page.keyboard.press("ArrowUp");
    await app.page.keyboard.press("ArrowUp");
    await app.page.keyboard.press("Enter");
    await app.frame.getByLabel("white pawn, d4, last move").waitFor();
    expect(moves(app)[0]?.arguments.move).toBe("d2d4");
  });

  it("moves by touch", async () => {
    const app = await open();
    await isFitted(app);
    const cdp = await app.page.context().newCDPSession(app.page);
    const touch = async (type: "touchStart" | "touchMove", square: string): Promise<void> => {
      const { x, y, width, height } = (await app.frame.locator(cell(square)).boundingBox()) ?? NO_BOX;
      const touchPoints = [{ x: x + width / 2, y: y + height / 2 }];
      await cdp.send("Input.dispatchTouchEvent", { type, touchPoints });
    };
    await touch("touchStart", "b1");
    await touch("touchMove", "b2");
    await touch("touchMove", "c3");
    await expect.poll(() => app.frame.locator(".dragged-piece").count()).toBe(1);
    await cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await app.frame.getByLabel("white knight, c3, last move").waitFor();
  });

  it("asks for the piece of a promotion", async () => {
    const app = await open({ options: { fen: "8/P6k/8/8/8/8/7K/8 w - - 0 1" } });
    await app.frame.click(cell("a7"));
    await app.frame.click(cell("a8"));
    const dialog = app.frame.getByRole("dialog", { name: "Promote the pawn to" });
    await dialog.waitFor();
    await expect.poll(() => app.frame.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("queen");
    await app.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(moves(app)).toEqual([]);
    await app.frame.click(cell("a7"));
    await app.frame.click(cell("a8"));
    await dialog.getByLabel("knight").click();
    await app.frame.getByLabel("white knight, a8, last move").waitFor();
    expect(moves(app)[0]?.arguments.move).toBe("a7a8n");
  });

  it("shows the board from black's side to black", async () => {
    const app = await open({ human: "black" });
    await statusOf(app, "Waiting for white (Claude)");
    expect(await app.frame.locator(".movable").count()).toBe(0);
    app.game.play("white", "e2e4");
    await statusOf(app, "Your move");
    const top = async (square: string): Promise<number> =>
      (await app.frame.locator(cell(square)).boundingBox())?.y ?? 0;
    expect(await top("h8")).toBeGreaterThan(await top("h1"));
    await app.frame.click(cell("e7"));
    await app.frame.click(cell("e5"));
    await app.frame.getByLabel("black pawn, e5, last move").waitFor();
  });
});

describe("a claim", () => {
  const MATE_IN_ONE = { options: { fen: "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1" } };
  const claim = { name: "Claim checkmate" };

  it("is rejected with the server's message if it is false, and the move is not made", async () => {
    const app = await open(MATE_IN_ONE);
    await app.frame.getByRole("button", claim).click();
    await app.frame.click(cell("a1"));
    await app.frame.click(cell("a7"));
    await expect
      .poll(() => app.frame.getByRole("alert").textContent())
      .toBe("Your move does not end the game with checkmate, so it was not made.");
    expect(moves(app)[0]?.arguments).toMatchObject({ move: "a1a7", claim: "checkmate" });
    await app.frame.getByLabel("white rook, a1").waitFor();
    expect(app.messages).toEqual([]);
    await expect.poll(() => app.frame.getByRole("button", claim).getAttribute("aria-pressed")).toBe("false");
  });

  it("ends the game if it is true", async () => {
    const app = await open(MATE_IN_ONE);
    await app.frame.getByRole("button", claim).click();
    await app.frame.click(cell("a1"));
    await app.frame.click(cell("a8"));
    await app.frame.locator(".result").waitFor();
    await expect.poll(() => app.frame.locator(".result").textContent()).toBe("You won Checkmate");
    await expect.poll(() => app.frame.getByRole("button", claim).count()).toBe(0);
    await expect.poll(() => app.messages[0]?.content[0]?.text).toContain("The game is over.");
  });
});

describe("the app in its host", () => {
  it("applies the host's theme, initially and after a change", async () => {
    const app = await open({ hostContext: { theme: "dark", styles: { variables: { "--font-sans": "monospace" } } } });
    const appearance = (): Promise<unknown> =>
      app.frame.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).fontFamily]",
      );
    await app.frame.locator(cell("e2")).waitFor();
    await expect.poll(() => appearance()).toEqual(["rgb(23, 23, 28)", "monospace"]);
    await app.page.evaluate(`window.bridge.sendHostContextChange({ theme: "light" })`);
    await expect.poll(() => appearance()).toEqual(["rgb(255, 255, 255)", "monospace"]);
  });

  it("reports its size, and fits into a narrow frame", async () => {
    const app = await open({ viewport: { width: 360, height: 700 } });
    await app.frame.locator(cell("e2")).waitFor();
    await expect.poll(() => app.sizes.at(-1)?.height).toBeGreaterThan(400);
    await expect.poll(() => app.frame.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  it("keeps the board within the height that the host allows", async () => {
    const app = await open({ hostContext: { containerDimensions: { maxHeight: 500 } } });
    await app.frame.locator(cell("e2")).waitFor();
    await expect.poll(() => app.sizes.at(-1)?.height).toBeLessThanOrEqual(500);
  });

  it("sends no requests to other servers, and is not able to", async () => {
    const app = await open();
    await app.frame.click(cell("e2"));
    await app.frame.click(cell("e4"));
    await statusOf(app, "Waiting for black (Claude)");
    expect(app.requests.filter((url) => !/^(about|data):/.test(url))).toEqual([]);
    const outside = await countingServer();
    const results = await app.frame.evaluate(`Promise.all([
      fetch("${outside.url}").then(() => "sent", () => "blocked"),
      new Promise((done) => {
        addEventListener("securitypolicyviolation", ({ violatedDirective }) => violatedDirective === "img-src" && done("blocked"));
        document.body.append(Object.assign(new Image(), { src: "${outside.url}a.png" }));
      }),
    ])`);
    expect(results).toEqual(["blocked", "blocked"]);
    expect(await outside.close()).toBe(0);
  });

  it("shows why the game cannot be updated, and continues after a pause", async () => {
    let failures = 1;
    const app = await open({
      human: "black",
      tool: ({ name }) => (name === "waitForNextTurn" && failures-- > 0 ? toolError("the server is busy") : undefined),
    });
    await app.frame.getByText("the server is busy").waitFor();
    app.game.play("white", "d2d4");
    await statusOf(app, "Your move");
    await expect.poll(() => app.frame.getByText("the server is busy").count()).toBe(0);
  });

  it("answers a teardown request and then makes no more calls", async () => {
    const app = await open();
    await app.frame.locator(cell("e2")).waitFor();
    expect(await app.page.evaluate("window.bridge.teardownResource({})")).toEqual({});
    const before = app.calls.length;
    await app.frame.evaluate("new Promise((done) => setTimeout(done))");
    expect(app.calls.length).toBe(before);
  });
});

describe("other games", () => {
  const CARD = /jack|queen|king/i;

  it("does not show the model's hand to the person", async () => {
    const app = await open({ template: "kuhn_poker.v1", human: "player_2" });
    await statusOf(app, "Waiting for player 1 (Claude)");
    expect(await app.frame.getByRole("region", { name: "Player 1, Claude" }).innerText()).not.toMatch(CARD);
    app.game.play("player_1", "check");
    await app.frame.getByRole("region", { name: "Player 2, Ann" }).getByText(CARD).first().waitFor();
    expect(await app.frame.getByRole("region", { name: "Player 1, Claude" }).innerText()).not.toMatch(CARD);
    await app.frame.getByRole("button", { name: "bet" }).click();
    await statusOf(app, "Waiting for player 1 (Claude)");
    expect(moves(app)[0]?.arguments.move).toBe("bet");
  });

  it("waits for the person's view if the tool result does not contain it", async () => {
    const app = await open({ template: "kuhn_poker.v1", human: "player_2", hasPersonView: false });
    await expect.poll(() => app.calls.length).toBe(1);
    expect(await app.frame.locator("body").innerText()).not.toMatch(CARD);
    app.game.play("player_1", "check");
    await app.frame.getByRole("region", { name: "Player 2, Ann" }).getByText(CARD).waitFor();
  });

  it("gives clues and guesses words in Codenames", async () => {
    const words = Array.from({ length: 25 }, (_, index) => `WORD ${"ABCDEFGHIJKLMNOPQRSTUVWXY"[index]}`);
    const options = { words, starting_team: "red" };
    const spymaster = await open({ template: "codenames.v1", human: "red_spymaster", options });
    await spymaster.frame.getByLabel("Clue").fill("ocean");
    await spymaster.frame.getByLabel("for").selectOption("2");
    await spymaster.frame.getByRole("button", { name: "Give the clue" }).click();
    await spymaster.frame.getByText("Red's clue: OCEAN 2 3 guesses left").waitFor();
    await spymaster.frame.getByRole("region", { name: "History" }).getByText("OCEAN 2").waitFor();
    expect(moves(spymaster)[0]?.arguments.move).toEqual({ type: "clue", word: "ocean", number: 2 });

    const team = await open({ template: "codenames.v1", human: "red_team", options });
    expect(await team.frame.locator(".words .agent-red").count()).toBe(0);
    team.game.play("red_spymaster", { type: "clue", word: "OCEAN", number: 2 });
    await statusOf(team, "Your move");
    await team.frame.getByRole("gridcell", { name: "WORD B", exact: true }).click();
    await team.frame.getByRole("gridcell", { name: "WORD C", exact: true }).click();
    await team.frame.getByRole("button", { name: "Guess WORD C" }).click();
    await team.frame.getByLabel("WORD C, uncovered").waitFor();
    expect(moves(team).map((call) => call.arguments.move)).toEqual([{ type: "guess", word: "WORD C" }]);
  });
});

/** Starts a server that counts its requests. `close` resolves with the number. */
async function countingServer(): Promise<{ url: string; close(): Promise<number> }> {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.end();
  });
  const port = await listenOnLoopback(server);
  const close = async (): Promise<number> => {
    await new Promise((resolve) => server.close(resolve));
    return requests;
  };
  return { url: `http://127.0.0.1:${port}/`, close };
}
