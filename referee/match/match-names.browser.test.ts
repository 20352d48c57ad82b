import { expect, it, onTestFinished } from "vitest";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { startTestReferee } from "../testing/match.ts";

const NAMES = ["Ann <b>Lovelace</b>", "\u05d1\u05d5\u05d1 1"];

it("the list of games and the page of a match show the names of the players as text, with the league and the match", async () => {
  const turn = Promise.withResolvers<void>();
  const player = async ({ type }: { type: string }) => {
    if (type === "MOVE_REQUEST") await turn.promise;
    return null as never;
  };
  const referee = await startTestReferee({ player });
  onTestFinished(() => referee.stop());
  onTestFinished(() => turn.resolve());
  const seats = Object.entries(referee.order().roles).map(([role, seat], index) => [
    role,
    { ...seat, display_name: NAMES[index] },
  ]);
  const clock = { initial_ms: 60_000, increment_ms: 0 };
  await referee.begin({ roles: Object.fromEntries(seats), clock });
  await referee.waitFor("P01", "MOVE_REQUEST");

  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(referee.url.replace("/mcp", "/"));
  const entry = page.locator(".game-list li", { hasText: "rps, match R1M1" });
  await entry.waitFor();
  await expect.poll(() => entry.locator("bdi").allTextContents()).toEqual([...NAMES, "rps", "R1M1"]);
  expect(await page.locator(".game-list b").count()).toBe(0);

  await entry.getByRole("link").click();
  await page.locator(".match-ref", { hasText: "rps, match R1M1" }).waitFor();
  await expect.poll(() => page.locator(".players bdi").allTextContents()).toEqual(NAMES);
  await page.locator(".status", { hasText: `player 1 (${NAMES[0]}) and player 2 (${NAMES[1]}) to move` }).waitFor();
});
