import type { Browser, Frame, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { embeddedBoard } from "./bundle.ts";
import type { GameView } from "./game-view.ts";
import { launchChromium } from "./testing/chromium.ts";
import { testingGame } from "./testing/games.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

describe("the board in a frame that only forwards messages", () => {
  it("posts the person's action with the token of its seat", async () => {
    const { frame, messages } = await embed(testingGame("chess.v1").view("white"), { role: "white", token: "secret" });
    await frame.click('[data-cell="e2"]');
    await frame.click('[data-cell="e4"]');
    const payload = { game_id: "g_test", move: "e2e4", seat_token: "secret" };
    await expect.poll(() => messages).toEqual([{ type: "action", action: "finishTurn", payload }]);
    await frame.getByText("Your move was sent to the chat.").waitFor();
    await frame.getByRole("button", { name: "Claim checkmate" }).click();
    await frame.click('[data-cell="d2"]');
    await frame.click('[data-cell="d4"]');
    await expect.poll(() => messages[1]).toMatchObject({ payload: { move: "d2d4", claim: "checkmate" } });
  });

  it("shows a state that the host posts", async () => {
    const game = testingGame("chess.v1");
    const { frame, post } = await embed(game.view("white"));
    await post(game.play("white", "e2e4"));
    await frame.getByLabel("white pawn, e4, last move").waitFor();
  });

  it("says that a position cannot be shown, and shows the next one", async () => {
    const game = testingGame("chess.v1");
    const { page, frame } = await embed({ ...game.view("white"), state: { fen: 1 } });
    await frame.getByText("The position cannot be shown.").waitFor();
    await frame.locator(".status", { hasText: "Your move" }).waitFor();
    const next = game.play("white", "e2e4");
    await page.evaluate(
      `document.querySelector("iframe").contentWindow.postMessage(${JSON.stringify({ type: "game", game: next })}, "*")`,
    );
    await frame.getByLabel("white pawn, e4, last move").waitFor();
  });

  it("lets a spectator watch only", async () => {
    const { frame, messages } = await embed(testingGame("chess.v1").view("spectator"));
    await frame.click('[data-cell="e2"]');
    expect(await frame.locator(".target, .movable, .claim, .confirm").count()).toBe(0);
    await frame.locator(".status", { hasText: "white (Ann) to move" }).waitFor();
    expect(messages).toEqual([]);
  });

  it("shows the clocks of a match beside the names of the players", async () => {
    const clock = { initial_ms: 60_000, increment_ms: 0, remaining_ms: { white: 58_200, black: 9_540 } };
    const waiting = { ...testingGame("chess.v1").view("spectator"), status: "waiting_for_players" } as const;
    const { frame } = await embed({ ...waiting, clock });
    await expect.poll(() => frame.locator(".players .game-clock").allTextContents()).toEqual(["0:58", "0:09.5"]);
    const withoutClocks = await embed(testingGame("chess.v1").view("spectator"));
    expect(await withoutClocks.frame.locator(".players .game-clock").count()).toBe(0);
  });

  it("lets the clock of the side to move run between the moves, until the game is over", async () => {
    const game = testingGame("chess.v1");
    const clock = { initial_ms: 60_000, increment_ms: 0, remaining_ms: { white: 58_200, black: 9_540 } };
    const { page, frame, post } = await embed({ ...game.view("spectator"), clock }, undefined, true);
    const shows = (...times: string[]) =>
      expect.poll(() => frame.locator(".players .game-clock").allTextContents()).toEqual(times);
    await shows("0:58", "0:09.5");
    await page.clock.runFor(1_000);
    await shows("0:57", "0:09.5");
    await page.clock.runFor(2_000);
    await shows("0:55", "0:09.5");
    expect(await frame.locator("[aria-live] [role=timer], [role=status] [role=timer]").count()).toBe(0);
    await expect.poll(() => frame.locator("[role=timer]").count()).toBe(2);

    const hide = (isHidden: boolean) =>
      frame.evaluate(
        `Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
         document.dispatchEvent(new Event("visibilitychange"))`,
      );
    await hide(true);
    await page.clock.runFor(5_000);
    await shows("0:55", "0:09.5");
    await hide(false);
    await shows("0:50", "0:09.5");

    const next = { ...game.play("white", "e2e4"), clock: { ...clock, remaining_ms: { white: 47_000, black: 9_540 } } };
    await post(next);
    await shows("0:47", "0:09.5");
    await page.clock.runFor(1_000);
    await shows("0:47", "0:08.5");
    const result = { winners: ["white"], winner: "white", reason: "resigned", termination: "normal" };
    await post({ ...next, status: "completed", to_act: [], result, tick: next.tick + 1 });
    await frame.locator(".result", { hasText: "Resignation" }).waitFor();
    await page.clock.runFor(3_000);
    await shows("0:47", "0:08.5");
  });

  it("shows buttons for the actions of a game without a graphical board", async () => {
    const legal_actions = [{ type: "take", heap: 1, count: 2 }, "pass"];
    const view = { ...testingGame("tic_tac_toe.v1").view("x"), template: "heaps.v1", legal_actions };
    const { frame, messages } = await embed(view);
    await frame.getByRole("region", { name: "Tic-tac-toe as text" }).waitFor();
    await frame.getByRole("button", { name: "take, heap 1, count 2" }).click();
    await expect.poll(() => messages).toMatchObject([{ payload: { move: legal_actions[0] } }]);
  });
});

/** Shows the page in a sandboxed frame. `messages` are the messages that it posts to its parent. */
async function embed(
  game: GameView,
  seat?: { role: string; token: string },
  hasTestClock = false,
): Promise<{ page: Page; frame: Frame; messages: object[]; post: (game: GameView) => Promise<unknown> }> {
  const page = await (await browser.newContext()).newPage();
  if (hasTestClock) {
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
  }
  const messages: object[] = [];
  await page.exposeFunction("onAppMessage", (message: object) => void messages.push(message));
  await page.setContent("<script>addEventListener('message', ({ data }) => onAppMessage(data))</script>");
  const html = await embeddedBoard({ mode: "embed", game, ...(seat && { seat }) });
  await page.evaluate(`
    const frame = Object.assign(document.createElement("iframe"), { srcdoc: ${JSON.stringify(html)}, width: 600, height: 800 });
    frame.sandbox.add("allow-scripts");
    document.body.append(frame);`);
  await page.frameLocator("iframe").locator("main").waitFor();
  const post = (next: GameView) =>
    page.evaluate(
      `document.querySelector("iframe").contentWindow.postMessage(${JSON.stringify({ type: "game", game: next })}, "*")`,
    );
  return { page, frame: page.frames()[1] as Frame, messages, post };
}
