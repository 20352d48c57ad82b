import { deflateRawSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { reportPage } from "./bundle.ts";
import type { Frame, Replay } from "./game-view.ts";
import { launchChromium } from "./testing/chromium.ts";
import { testingGame } from "./testing/games.ts";

/** Opens the page of a replay, whose time passes only by `page.clock`. */
async function openedReplay(replay: Replay): Promise<Page> {
  const data = deflateRawSync(JSON.stringify(replay)).toString("base64");
  const setup = { games: {}, replays: [{ anchor: "m", label: "R1M1", data }] };
  const html = (await reportPage())({ title: "Match", main: '<main id="replays"></main>', setup });

  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1_000);
  await page.setContent(html);
  // The page unpacks the match after its first frame.
  await page.clock.runFor(100);
  return page;
}

const shown = (page: Page, ...times: string[]) =>
  expect.poll(() => page.locator(".match-steps [role=timer]").allTextContents()).toEqual(times);

it("a page that is opened in a turn shows the time that is left", async () => {
  const game = testingGame("chess.v1");
  const clock = {
    initial_ms: 60_000,
    increment_ms: 0,
    remaining_ms: { white: 60_000, black: 60_000 },
    elapsed_ms: 20_000,
  };
  const frame: Frame = { ...game.view("spectator"), clock, moves: [] };
  const page = await openedReplay({ game: game.view("spectator"), frames: [frame] });
  await shown(page, "0:40", "1:00");
  await page.clock.runFor(3_000);
  await shown(page, "0:37", "1:00");
});

it("the clock of the side to move runs at the last step of a match only, and goes on there after a look at earlier steps", async () => {
  const game = testingGame("chess.v1");
  const frameOf = (white: number): Frame => ({
    ...game.view("spectator"),
    clock: { initial_ms: 60_000, increment_ms: 0, remaining_ms: { white, black: 60_000 } },
    moves: [],
  });
  const first = frameOf(60_000);
  game.play("white", "e2e4");
  const replay: Replay = { game: game.view("spectator"), frames: [first, frameOf(55_000)] };
  const page = await openedReplay(replay);
  const shows = (...times: string[]) => shown(page, ...times);
  await shows("1:00", "1:00");
  await page.clock.runFor(1_900);
  await shows("1:00", "1:00");
  await page.keyboard.press("End");
  await shows("0:55", "0:58");
  await page.clock.runFor(3_000);
  await shows("0:55", "0:55");
  await page.keyboard.press("Home");
  await shows("1:00", "1:00");
  await page.clock.runFor(1_000);
  await shows("1:00", "1:00");
  await page.keyboard.press("End");
  await shows("0:55", "0:54");
});
