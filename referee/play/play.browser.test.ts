import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

let browser: Browser;
let host: TestHost;
beforeAll(async () => {
  requireProgram(["/usr/games/stockfish", "/usr/bin/stockfish"], "stockfish");
  browser = await launchChromium();
  host = await startTestHost();
});
afterAll(async () => {
  await browser.close();
  await host.remove();
});

/** Opens a page of a person, who has a separate browser unless `at` is given. */
async function open(path: string, at?: BrowserContext): Promise<Page> {
  const page = await (at ?? (await browser.newContext())).newPage();
  await page.goto(new URL(path, host.url).href);
  return page;
}

interface Choices {
  readonly game: string;
  readonly role?: string;
  readonly opponent: RegExp;
  readonly fill?: (page: Page) => Promise<unknown>;
}

/** Starts a game by the form. Resolves with the page of the seat. */
async function start({ game, role, opponent, fill }: Choices, at?: BrowserContext): Promise<Page> {
  const page = await open("/", at);
  await page.getByRole("radio", { name: game, exact: true }).check();
  if (role) await page.getByRole("radio", { name: role, exact: true }).check();
  await page.getByRole("radio", { name: opponent }).check();
  await fill?.(page);
  await page.getByRole("button", { name: "Start the game" }).click();
  await page.waitForURL(/\/game\/.+#seat=/);
  return page;
}

async function move(page: Page, from: string, to: string): Promise<void> {
  await page.click(`[data-cell="${from}"]`);
  await page.click(`[data-cell="${to}"]`);
}

const status = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator(".status", { hasText: text }).waitFor();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const withFriend = { game: "Chess", opponent: /^A friend/ };

/** Starts a game of two people. Resolves with their pages. */
async function twoPeople(): Promise<readonly [Page, Page]> {
  const ann = await start({ ...withFriend, fill: (page) => page.getByLabel("Your name").fill("Ann") });
  const link = await ann.getByRole("textbox", { name: "Link for Black" }).inputValue();
  const bob = await open(link);
  await status(bob, "Waiting for white (Ann)");
  return [ann, bob];
}

async function expectAccessible(page: Page): Promise<void> {
  expect(await axeFaults(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
}

describe("the form for a new game", () => {
  it("starts a game against an engine as black", async () => {
    const page = await start({ game: "Chess", role: "Black", opponent: /^Stockfish easy/ });
    await status(page, "Your move");
    await expect.poll(() => page.locator(".cell.last").count()).toBe(2);
    await move(page, "a7", "a6");
    await page.locator(".move-list li").nth(2).waitFor();
  });

  it("sends the options that are filled in, by keyboard too", async () => {
    const page = await start({
      game: "Rock, paper, scissors",
      opponent: /^Random Chooses/,
      async fill(form) {
        await form.getByText("Options").focus();
        await form.keyboard.press("Enter");
        await form.getByRole("spinbutton", { name: "Rounds" }).fill("3");
      },
    });
    const id = page.url().split("/game/")[1]?.split("#")[0];
    const { json } = await host.call("GET", `/api/games/${id}`);
    expect(json.state.series.best_of).toBe(3);
  });

  it("explains the game, as its page does, and proposes several rounds", async () => {
    const explains = async (page: Page): Promise<void> => {
      await page.getByText("How to play").click();
      await page.getByText("Rock beats scissors, scissors beat paper, and paper beats rock.").waitFor();
    };
    const page = await start({ game: "Rock, paper, scissors", opponent: /^Random Chooses/, fill: explains });
    await explains(page);
    await page.getByText("Round 1 of at most 5").waitFor();
  });

  it("shows the reason in words if a game cannot be started", async () => {
    const page = await open("/");
    await page.getByRole("radio", { name: "Chess", exact: true }).check();
    await page.getByText("Options").click();
    await page.getByLabel("Starting position (FEN)").fill("not a position");
    await button(page, "Start the game").click();
    const text = (await page.getByRole("alert").textContent()) ?? "";
    expect(text).toMatch(/^Starting position \(FEN\): /);
    expect(text).not.toMatch(/[{}_]/);
    // The message is about an earlier text as soon as the field changes.
    await page.getByLabel("Starting position (FEN)").fill("");
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
  });

  it.each([["on a phone", PHONE] as const, ["on a wide screen", { colorScheme: "dark" }] as const])(
    "is accessible with all games %s",
    async (_, look) => {
      const page = await open("/", await browser.newContext(look));
      for (const game of ["Chess", "Codenames", "Even or odd", "Kuhn poker"]) {
        await page.getByRole("radio", { name: game, exact: true }).check();
        await page.getByText("Options").click();
        await expectAccessible(page);
      }
    },
  );
});

describe("a game of two people", () => {
  it("shows the link and a QR code until the friend has come", async () => {
    const context = await browser.newContext({ ...PHONE, colorScheme: "dark" });
    const ann = await start(withFriend, context);
    const code = ann.getByRole("img", { name: "QR code of the link for Black" });
    await code.waitFor();
    // Dark on white, also on a dark page: scanners read no other code.
    const fill = (part: string): string => `getComputedStyle(document.querySelector(".qr-${part}")).fill`;
    expect(await ann.evaluate(`[${fill("light")}, ${fill("dark")}]`)).toEqual(["rgb(255, 255, 255)", "rgb(0, 0, 0)"]);
    await expectAccessible(ann);
    const link = await ann.getByRole("textbox", { name: "Link for Black" }).inputValue();
    const bob = await open(link);
    await status(bob, "Waiting for white");
    await ann.getByRole("region", { name: "Invitation" }).waitFor({ state: "detached" });
    expect(await bob.getByRole("region", { name: "Invitation" }).count()).toBe(0);
  });

  it("asks the friend for a name, which the other player sees at once", async () => {
    const [ann, bob] = await twoPeople();
    expect(await ann.getByRole("form", { name: "Your name" }).count()).toBe(0);
    await bob.getByRole("textbox", { name: "Your name" }).fill("Bob");
    await expectAccessible(bob);
    await button(bob, "Show my name").click();
    await bob.getByRole("form", { name: "Your name" }).waitFor({ state: "detached" });
    await ann.locator(".players li", { hasText: "Black Bob" }).waitFor();
    await move(ann, "e2", "e4");
    await status(ann, "Waiting for black (Bob)");
  });

  it("ends by an offer and its acceptance, and the rematch has the colours exchanged", async () => {
    const [ann, bob] = await twoPeople();
    await button(ann, "Offer a draw").click();
    await ann.getByText("Your next move also offers a draw.").waitFor();
    await move(ann, "e2", "e4");
    await ann.getByText("You have offered a draw.").waitFor();
    await bob.getByText("White offers you a draw. A move declines it.").waitFor();
    await move(bob, "e7", "e5");
    await status(ann, "Your move");
    await expect.poll(() => ann.getByText("You have offered a draw.").count()).toBe(0);
    await button(ann, "Offer a draw").click();
    await move(ann, "g1", "f3");
    await button(bob, "Accept the draw").click();
    for (const page of [ann, bob]) await status(page, "Draw The players agreed to a draw");

    const before = ann.url();
    await button(bob, "Rematch").click();
    await bob.waitForURL((url) => url.href !== before && url.pathname !== new URL(before).pathname);
    await bob.getByText("Waiting for Ann to join the rematch").waitFor();
    expect(await bob.getByRole("img", { name: /^QR code/ }).isVisible()).toBe(false);
    await ann.getByText("Your opponent wants a rematch.").waitFor();
    await button(ann, "Join the rematch").click();
    await ann.waitForURL((url) => url.pathname === new URL(bob.url()).pathname);
    await status(bob, "Your move");
    await status(ann, "Waiting for white");
  });

  it("shows won and lost with the reason, the moves in SAN and the captured pieces", async () => {
    const [ann, bob] = await twoPeople();
    const moves = ["e2e4", "f7f6", "d2d4", "g7g5", "c1g5", "a7a6", "d1h5"];
    for (const [ply, text] of moves.entries()) {
      const page = ply % 2 === 0 ? ann : bob;
      await status(page, "Your move");
      await move(page, text.slice(0, 2), text.slice(2));
    }
    await status(ann, "You won Checkmate");
    await status(bob, "You lost Checkmate");
    await ann.getByRole("img", { name: "Captured: a pawn; ahead by 1" }).waitFor();
    await button(ann, "White Qh5#").waitFor();
    await expectAccessible(ann);
  });
});

describe("the moves of a game", () => {
  it("lead back to earlier positions by clicks and arrow keys, and moves are made in the current one only", async () => {
    const [ann, bob] = await twoPeople();
    await move(ann, "e2", "e4");
    await status(bob, "Your move");
    await move(bob, "e7", "e5");
    await status(ann, "Your move");
    await button(ann, "Black e5").waitFor();
    await button(ann, "White e4").click();
    await ann.getByLabel("e5, empty").waitFor();
    expect(await ann.locator(".movable").count()).toBe(0);
    await ann.keyboard.press("ArrowLeft");
    await ann.getByLabel("white pawn, e2").waitFor();
    for (const _ of [1, 2]) await ann.keyboard.press("ArrowRight");
    await ann.getByLabel("black pawn, e5, last move").waitFor();
    await button(ann, "First step").click();
    await ann.getByLabel("e4, empty").waitFor();
    await button(ann, "Last step").click();
    await move(ann, "g1", "f3");
    await status(ann, "Waiting for black");
  });

  it("the board is flipped and back", async () => {
    const page = await start({ game: "Chess", opponent: /^Random Plays/ });
    await page.getByRole("grid", { name: "Chess board, white at the bottom" }).waitFor();
    await button(page, "Flip the board").click();
    await page.getByRole("grid", { name: "Chess board, black at the bottom" }).waitFor();
    await move(page, "e2", "e4");
    await page.getByLabel(/^white pawn, e4/).waitFor();
    await button(page, "Flip the board").click();
    await page.getByRole("grid", { name: "Chess board, white at the bottom" }).waitFor();
  });
});

describe("the own games of a browser", () => {
  it("are listed with their state after the page was closed, and lead to the seat", async () => {
    const context = await browser.newContext();
    const game = await start({ game: "Chess", opponent: /^Random Plays/ }, context);
    await status(game, "Your move");
    const seat = game.url();
    await game.close();
    const list = await open("/", context);
    const row = list.locator(".your-games li");
    await row.filter({ hasText: "White against random" }).filter({ hasText: "Your move" }).waitFor();
    await row.getByRole("link").click();
    await list.waitForURL(seat);
    await status(list, "Your move");
    const other = await open("/");
    await other.getByRole("heading", { name: "New game" }).waitFor();
    expect(await other.locator(".your-games").count()).toBe(0);
  });

  it("are forgotten on request, and when the server does not have them any more", async () => {
    const context = await browser.newContext();
    const game = await start({ game: "Chess", opponent: /^Random Plays/ }, context);
    await status(game, "Your move");
    const key = "agent-league/games";
    const gone = '{"gameId":"gone","token":"t","template":"chess.v1","role":"white","opponents":"x"}';
    await game.evaluate(
      `localStorage.setItem("${key}", JSON.stringify([...JSON.parse(localStorage.getItem("${key}")), ${gone}]))`,
    );
    const list = await open("/", context);
    await expect.poll(() => list.locator(".your-games li").count()).toBe(1);
    await button(list, "Forget the game of Chess").click();
    await list.locator(".your-games").waitFor({ state: "detached" });
    await expect.poll(() => list.evaluate(`localStorage.getItem("${key}")`)).toBe("[]");
  });

  it("a wrong link of a seat says so, with a way to the own seat", async () => {
    const context = await browser.newContext();
    const game = await start({ game: "Chess", opponent: /^Random Plays/ }, context);
    await status(game, "Your move");
    const seat = game.url();
    const page = await open(seat.slice(0, -3), context);
    await page.getByText("This link does not contain a seat in this game.").waitFor();
    await page.getByRole("link", { name: "Open your seat" }).click();
    await status(page, "Your move");
    await page.waitForURL(seat);
  });
});

it("a game for a language model shows what to paste", async () => {
  const page = await start({ game: "Codenames", role: "Red spymaster", opponent: /^A language model/ });
  await page.getByText("Open seats: Red team, Blue spymaster, Blue team.").waitFor();
  const id = page.url().split("/game/")[1]?.split("#")[0];
  await expect.poll(() => page.getByLabel("Task for the model").inputValue()).toContain(`Join the game ${id}`);
  await expect.poll(() => page.getByLabel("Command for Claude Code").inputValue()).toContain(`${host.url}/mcp`);
  await expectAccessible(page);
});

it("an unknown game has a page with a way to all games", async () => {
  const page = await open("/game/nowhere");
  await page.getByRole("link", { name: "All games" }).click();
  await page.getByRole("heading", { name: "New game" }).waitFor();
});
