import type { Browser, Frame, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GameView } from "./game-view.ts";
import { boardPage } from "./pages.ts";
import { eventually, launchChromium } from "./testing/chromium.ts";
import { testingGame } from "./testing/games.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

describe("the board in a frame that only passes messages on", () => {
  it("says what the person wants, with the seat that it came with", async () => {
    const { frame, said } = await embed(testingGame("chess.v1").view("white"), { role: "white", token: "secret" });
    await frame.click('[data-cell="e2"]');
    await frame.click('[data-cell="e4"]');
    const payload = { game_id: "g_test", move: "e2e4", seat_token: "secret" };
    await eventually(() => expect(said).toEqual([{ type: "action", action: "finishTurn", payload }]));
    await frame.getByText("Your move was handed to the chat.").waitFor();
    await frame.getByRole("button", { name: "Move & claim checkmate" }).click();
    await frame.click('[data-cell="d2"]');
    await frame.click('[data-cell="d4"]');
    await eventually(() => expect(said[1]).toMatchObject({ payload: { move: "d2d4", claim: "checkmate" } }));
  });

  it("shows a state that it is told", async () => {
    const game = testingGame("chess.v1");
    const { page, frame } = await embed(game.view("white"));
    const next = game.play("white", "e2e4");
    await page.evaluate(
      `document.querySelector("iframe").contentWindow.postMessage(${JSON.stringify({ type: "game", game: next })}, "*")`,
    );
    await frame.getByLabel("white pawn, e4, last move").waitFor();
  });

  it("lets a spectator look, and no more", async () => {
    const { frame, said } = await embed(testingGame("chess.v1").view("spectator"));
    await frame.click('[data-cell="e2"]');
    expect(await frame.locator(".target, .movable, .claim, .resign").count()).toBe(0);
    await frame.locator(".status", { hasText: "white (Ann) to move" }).waitFor();
    expect(said).toEqual([]);
  });

  it("plays games without a board of their own by buttons", async () => {
    const { frame, said } = await embed(testingGame("rps.v1").view("player_1"));
    await frame.getByRole("button", { name: "paper" }).click();
    await eventually(() => expect(said).toMatchObject([{ payload: { move: "paper" } }]));
  });
});

/** The page in a sandboxed frame, and all that it says to whoever frames it. */
async function embed(
  game: GameView,
  seat?: { role: string; token: string },
): Promise<{ page: Page; frame: Frame; said: object[] }> {
  const page = await (await browser.newContext()).newPage();
  const said: object[] = [];
  await page.exposeFunction("heard", (message: object) => void said.push(message));
  await page.setContent("<script>addEventListener('message', ({ data }) => heard(data))</script>");
  const html = await boardPage({ mode: "embed", game, ...(seat && { seat }) });
  await page.evaluate(`
    const frame = Object.assign(document.createElement("iframe"), { srcdoc: ${JSON.stringify(html)}, width: 600, height: 800 });
    frame.sandbox.add("allow-scripts");
    document.body.append(frame);`);
  await page.frameLocator("iframe").locator("main").waitFor();
  return { page, frame: page.frames()[1] as Frame, said };
}
