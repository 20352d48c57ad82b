import type { Browser, Frame } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { embeddedBoard } from "./bundle.ts";
import { type App, type AppOptions, openApp } from "./testing/app.ts";
import { launchChromium } from "./testing/chromium.ts";
import { testingGame } from "./testing/games.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(() => browser.close());

const open = (options: AppOptions): Promise<App> => openApp(browser, options);
const moves = (app: App): unknown[] =>
  app.calls.filter(({ name }) => name === "finishTurn").map((call) => call.arguments.move);
const seat = (frame: Frame, name: string) => frame.getByRole("region", { name });
const focused = (app: App): Promise<unknown> =>
  app.frame.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent");

/** A tool that answers when `release` is called, so that a test sees the board while an action is sent. */
function slowTool() {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const tool: AppOptions["tool"] = ({ name }) => (name === "finishTurn" ? promise : undefined);
  return { tool, release: () => resolve(undefined) };
}

describe("hands", () => {
  const RPS = { template: "rps.v1", human: "player_1", options: { best_of: 5 } } as const;

  it("shows both choices when the round is closed, and keeps them until the next choice", async () => {
    const app = await open(RPS);
    await app.frame.getByRole("button", { name: "Rock" }).click();
    await seat(app.frame, "Player 1, Ann").getByText("Rock").waitFor();
    await expect.poll(() => seat(app.frame, "Player 2, Claude").innerText()).toContain("choosing…");
    app.game.play("player_2", "scissors");
    await app.frame.getByText("Round 1: you win with rock.").waitFor();
    await seat(app.frame, "Player 2, Claude").getByText("Scissors").waitFor();
    await expect.poll(() => app.frame.locator(".seat.winner").getByRole("heading").textContent()).toBe("Ann (you)");
    await app.frame.getByText("Round 2 of at most 5").waitFor();
    const row = app.frame.getByRole("region", { name: "Rounds" }).getByRole("row").nth(1);
    await expect.poll(() => row.innerText()).toMatch(/1\s+rock\s+scissors\s+Ann/);
    await app.frame.getByRole("button", { name: "Paper" }).click();
    await expect.poll(() => seat(app.frame, "Player 2, Claude").innerText()).not.toContain("Scissors");
    await expect.poll(() => moves(app)).toEqual(["rock", "paper"]);
  });

  it("says that the opponent has chosen, and not what", async () => {
    const game = testingGame("rps.v1", RPS.options, "player_1");
    game.play("player_2", "paper");
    const page = await browser.newPage();
    await page.setContent(await embeddedBoard({ mode: "embed", game: game.view("player_1") }));
    await page.getByText("Claude has chosen.").waitFor();
    const opponent = page.getByRole("region", { name: "Player 2, Claude" });
    await opponent.getByText("has chosen").waitFor();
    expect(await opponent.locator(".hand").count()).toBe(0);
  });

  it.each([
    ["before the first choice", 1, []],
    ["after one choice", 1, ["rock"]],
    ["before the first choice of several rounds", 5, []],
  ])("says nothing about a round that was ended by a forfeit %s", async (_, bestOf, choices) => {
    const game = testingGame("rps.v1", { best_of: bestOf }, "player_1");
    for (const choice of choices) game.play("player_1", choice);
    const result = { winners: ["player_1"], winner: "player_1", reason: "timeout", termination: "forfeit" } as const;
    const page = await browser.newPage();
    const forfeited = { ...game.view("player_1"), status: "completed", result, to_act: [], legal_actions: [] } as const;
    await page.setContent(await embeddedBoard({ mode: "embed", game: forfeited }));
    await page.getByText("You won").first().waitFor();
    expect(await page.locator(".round-text").textContent()).toBe("");
  });

  it("is played by the keyboard: the focus returns to the buttons in the next round", async () => {
    const app = await open(RPS);
    await app.frame.getByRole("button", { name: "Rock" }).focus();
    await app.page.keyboard.press("Tab");
    await app.page.keyboard.press("Enter");
    await app.frame.locator(".status", { hasText: "Waiting for" }).waitFor();
    app.game.play("player_2", "paper");
    await app.frame.getByText("Round 1: paper on both sides, a draw.").waitFor();
    await expect.poll(() => focused(app)).toMatch(/^Rock/);
  });

  it("marks the choice that is being sent, and sends no second one", async () => {
    const { tool, release } = slowTool();
    const app = await open({ ...RPS, tool });
    await app.frame.getByRole("button", { name: "Rock" }).click();
    await app.frame.locator(".action.sending", { hasText: "Rock" }).waitFor();
    await app.frame.getByRole("button", { name: "Paper" }).click({ force: true });
    release();
    await app.frame.getByText("choosing…").waitFor();
    expect(moves(app)).toEqual(["rock"]);
  });
});

describe("numbers", () => {
  it("shows the sum and its parity", async () => {
    const app = await open({ template: "even_odd.v1", human: "EVEN" });
    await app.frame.getByRole("button", { name: "3" }).click();
    app.game.play("ODD", 4);
    await app.frame.getByText("Round 1: 3 + 4 = 7 is odd, Claude wins (Odd).").waitFor();
    await expect.poll(() => seat(app.frame, "Odd, Claude").innerText()).toContain("1 won");
    expect(moves(app)).toEqual([3]);
  });

  it("offers even and odd if the number is drawn", async () => {
    const app = await open({ template: "even_odd.v1", human: "ODD", options: { variant: "draw", max_rounds: 2 } });
    await app.frame.getByRole("button", { name: "Even" }).click();
    app.game.play("EVEN", "even");
    await app.frame.getByText(/Round 1: \d+ is drawn, which is (even|odd), a draw\./).waitFor();
  });
});

describe("cards", () => {
  const KUHN = { template: "kuhn_poker.v1", human: "player_1", options: { hands: 2 } } as const;
  const CARD = /jack|queen|king/i;

  it("shows the cards of both after a showdown only, and the pot", async () => {
    const app = await open(KUHN);
    await app.frame.getByText("Pot: 2 chips").waitFor();
    await seat(app.frame, "Player 1, Ann").getByText(CARD).waitFor();
    await expect.poll(() => seat(app.frame, "Player 2, Claude").innerText()).toContain("Hidden card");
    await app.frame.getByRole("button", { name: "Bet" }).click();
    await app.frame.getByText("Pot: 3 chips").waitFor();
    app.game.play("player_2", "call");
    // The next view comes with the turn of the person.
    app.game.play("player_2", "check");
    await app.frame.getByText(/^Hand 1: .* 2 chips with the \w+ against (the|your) \w+$/).waitFor();
    const row = app.frame.getByRole("region", { name: "Hands" }).getByRole("row").nth(1);
    await expect.poll(() => row.innerText()).toMatch(/1\s+(jack|queen|king)\s+(jack|queen|king)\s+bet, call/);
  });

  it("never shows a folded card", async () => {
    const app = await open({ ...KUHN, options: { hands: 1 } });
    await app.frame.getByRole("button", { name: "Bet" }).click();
    await app.frame.getByText("Pot: 3 chips").waitFor();
    app.game.play("player_2", "fold");
    await app.frame.getByText("Hand 1: you win 1 chip, because Claude folds").waitFor();
    await expect.poll(() => seat(app.frame, "Player 2, Claude").innerText()).toContain("Not shown");
    expect(await app.frame.locator(".playing-card:not(.back)").count()).toBe(0);
  });
});

describe("columns of discs", () => {
  it("are selected by arrow keys and digits", async () => {
    const app = await open({ template: "connect_four.v1", human: "red" });
    await app.frame.getByRole("button", { name: "Column 4, empty" }).waitFor();
    await app.page.keyboard.press("Tab");
    await expect.poll(() => focused(app)).toBe("Column 4, empty");
    await app.page.keyboard.press("ArrowRight");
    await expect.poll(() => focused(app)).toBe("Column 5, empty");
    await app.page.keyboard.press("2");
    await expect.poll(() => focused(app)).toBe("Column 2, empty");
    await app.page.keyboard.press("Enter");
    await app.frame.getByRole("button", { name: "Column 2, from the bottom: red (last move)" }).waitFor();
    expect(moves(app)).toEqual([2]);
  });

  it("show where the disc falls, and the disc that is being sent", async () => {
    const { tool, release } = slowTool();
    const app = await open({ template: "connect_four.v1", human: "red", tool });
    await app.frame.getByRole("button", { name: "Column 4, empty" }).waitFor();
    await app.page.keyboard.press("Tab");
    const shadow = (column: number): Promise<unknown> =>
      app.frame.evaluate(
        `getComputedStyle(document.querySelector('[data-column="${column}"] .landing .disc')).boxShadow`,
      );
    await expect.poll(() => shadow(4)).toContain("inset");
    expect(await shadow(3)).toBe("none");
    await app.page.keyboard.press("Enter");
    await app.frame.getByRole("button", { name: "Column 4, from the bottom: red (being sent)" }).waitFor();
    release();
    await app.frame.getByRole("button", { name: "Column 4, from the bottom: red (last move)" }).waitFor();
  });

  it("show the four in a row", async () => {
    const app = await open({ template: "connect_four.v1", human: "red" });
    for (let turn = 1; turn <= 3; turn++) {
      await app.frame.locator('.open [data-column="1"]').click();
      await app.frame.locator(".status", { hasText: "Waiting for" }).waitFor();
      app.game.play("yellow", 2);
    }
    await app.frame.locator('.open [data-column="1"]').click();
    await app.frame.getByRole("button", { name: /^Column 1, .*red \(last move, in the winning line\)$/ }).waitFor();
    await expect.poll(() => app.frame.locator('[data-column="1"] .won.disc-red').count()).toBe(4);
    await expect.poll(() => app.frame.locator(".won").count()).toBe(4);
    expect(await app.frame.locator(".column.target").count()).toBe(0);
  });
});

it("marks show the three in a row", async () => {
  const app = await open({ template: "tic_tac_toe.v1", human: "x" });
  for (const [own, other] of [
    ["a1", "a2"],
    ["b2", "b1"],
  ]) {
    await app.frame.click(`.open [data-cell="${own}"]`);
    await app.frame.locator(".status", { hasText: "Waiting for" }).waitFor();
    app.game.play("o", other);
  }
  await app.frame.click('.open [data-cell="c3"]');
  await app.frame.getByLabel("c3, x, last move, in the winning line").waitFor();
  await expect.poll(() => app.frame.locator(".cell.won").count()).toBe(3);
});

describe("Codenames", () => {
  const words = Array.from({ length: 25 }, (_, index) => `WORD ${"ABCDEFGHIJKLMNOPQRSTUVWXY"[index]}`);
  const GAME = { template: "codenames.v1", options: { words, starting_team: "red" } } as const;

  it("guesses the selected word by the keyboard after a second Enter, and unselects it by Escape", async () => {
    const app = await open({ ...GAME, human: "red_team" });
    app.game.play("red_spymaster", { type: "clue", word: "OCEAN", number: 2 });
    await app.frame.getByText("Select a word.").waitFor();
    await app.frame.getByRole("gridcell", { name: "WORD A", exact: true }).focus();
    await app.page.keyboard.press("Enter");
    await app.frame.getByRole("button", { name: "Guess WORD A" }).waitFor();
    await app.page.keyboard.press("Escape");
    await app.frame.getByText("Select a word.").waitFor();
    await app.page.keyboard.press("ArrowRight");
    await app.page.keyboard.press("Enter");
    await app.frame.getByLabel("WORD B, selected").waitFor();
    expect(moves(app)).toEqual([]);
    await app.page.keyboard.press("Enter");
    await app.frame.getByLabel(/^WORD B, uncovered: .*last guess$/).waitFor();
    expect(moves(app)).toEqual([{ type: "guess", word: "WORD B" }]);
  });

  it("shows a spymaster the key in words, letters and colours, and keeps the rejected clue", async () => {
    const app = await open({ ...GAME, human: "red_spymaster" });
    const assassin = app.frame.getByRole("gridcell", { name: /, assassin$/ });
    await expect.poll(() => assassin.locator(".tag").getAttribute("data-letter")).toBe("✕");
    for (const [identity, count] of [
      ["red agent", 9],
      ["blue agent", 8],
      ["bystander", 7],
    ] as const) {
      await expect
        .poll(() => app.frame.getByRole("gridcell", { name: new RegExp(`, ${identity}$`) }).count())
        .toBe(count);
    }
    await app.frame.getByLabel("Clue", { exact: true }).fill("two words");
    await app.frame.getByRole("button", { name: "Give the clue" }).click();
    await app.frame.getByRole("alert").waitFor();
    await expect.poll(() => app.frame.getByLabel("Clue", { exact: true }).inputValue()).toBe("two words");
  });
});

describe("chess", () => {
  it("shows a move on its square while it is being sent", async () => {
    const { tool, release } = slowTool();
    const app = await open({ template: "chess.v1", human: "white", tool });
    await app.frame.click('[data-cell="e2"]');
    await app.frame.click('[data-cell="e4"]');
    await app.frame.getByLabel("white pawn, e4, being sent").waitFor();
    release();
    await app.frame.getByLabel("white pawn, e4, last move", { exact: true }).waitFor();
  });
});

it.each([
  ["rps.v1", { best_of: 3 }],
  ["even_odd.v1", {}],
  ["kuhn_poker.v1", {}],
  ["codenames.v1", {}],
  ["connect_four.v1", {}],
  ["tic_tac_toe.v1", {}],
  ["chess.v1", {}],
])("%s offers a spectator no action", async (template, options) => {
  const app = await open({ template, options, human: "spectator" });
  await app.frame.locator(".board").waitFor();
  await app.frame.locator(".board :is(.cell, .column, .seat)").first().click({ force: true });
  expect(await app.frame.locator(".board :is(.target, .movable, .action, .clue, .guess)").count()).toBe(0);
  expect(moves(app)).toEqual([]);
});
