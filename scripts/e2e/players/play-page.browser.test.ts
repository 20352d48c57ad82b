import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { type ControlledPlayer, controlledPlayer } from "../../testing/controlled-player.ts";
import { startTestLeague, type TestLeague, type TestPlace, type TestPlayer } from "../../testing/in-process-league.ts";
import { cleanUp, league as leagueCommand } from "../../testing/processes.ts";
import { documentOf, run, testLeague } from "../../testing/test-league.ts";

/** The folder for screenshots of the inspected pages; none are written if it is not set. */
const FOLDER = process.env.SCREENSHOTS;

let browser: Browser;
let league: TestLeague | null = null;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(async () => {
  await league?.stop();
  league = null;
  await cleanUp();
});

async function shot(page: Page, name: string): Promise<void> {
  if (!FOLDER) return;
  mkdirSync(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
}

/** A person that joins by the form of the page. `opened` receives the page when the person has joined. */
const person = (name: string, opened: (page: Page) => void, options: BrowserContextOptions = {}): TestPlayer => ({
  name,
  async start({ manager }: TestPlace): Promise<RunningAgent> {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    await page.goto(new URL("/play", manager).href);
    await page.getByLabel("Your name").fill(name);
    await shot(page, `join-${name}`);
    await page.getByRole("button", { name: "Join" }).click();
    await page.waitForURL(/\/play\/P\d+#token=/);
    opened(page);
    return { stop: async () => {} };
  },
});

/** Starts leagues of a person and a bot. Resolves with the page of the person. */
async function startWithPerson(leagues: readonly object[], options: BrowserContextOptions = {}): Promise<Page> {
  const opened = Promise.withResolvers<Page>();
  league = await startTestLeague({
    leagues: leagues as never,
    players: [person("Ann", opened.resolve, options), { name: "Bot", bot: "random" }],
  });
  return opened.promise;
}

/** Starts a league of a player that the test controls, who is to move first, and a person. */
async function startWithOpponent(game: string, options: BrowserContextOptions = {}) {
  const opened = Promise.withResolvers<Page>();
  const registered = Promise.withResolvers<ControlledPlayer>();
  const opponent: TestPlayer = {
    name: "Bob",
    async start({ manager, name }: TestPlace): Promise<RunningAgent> {
      const player = await controlledPlayer(manager.replace("/mcp", ""), name);
      registered.resolve(player);
      return { stop: async () => player.close() };
    },
  };
  league = await startTestLeague({
    leagues: [{ league_id: "test", game }],
    players: [opponent, person("Ann", opened.resolve, options)],
    timeouts: { move_ms: 3_600_000, match_ms: 86_400_000 },
  });
  return { page: await opened.promise, bob: await registered.promise };
}

const PHONE = { viewport: { width: 380, height: 800 } };

const status = (page: Page, text: string): Promise<void> => page.locator(".status", { hasText: text }).waitFor();

/** Selects the first open cell in each turn, until the match has a result. */
async function playFirstMoves(page: Page): Promise<void> {
  const open = page.locator(".cell.target").first();
  const result = page.locator(".status.result");
  for (;;) {
    await open.or(result).first().click();
    if ((await result.count()) > 0) return;
  }
}

it("a person joins by the form, plays a match on the board and sees its result and the standings", async () => {
  const page = await startWithPerson([{ league_id: "ttt", game: "tic_tac_toe.v1" }]);
  await status(page, "Your move");
  await page.getByRole("timer", { name: "Time left for your move" }).waitFor();
  await shot(page, "turn");
  await playFirstMoves(page);
  await shot(page, "result");
  await page.getByText(/The league is over: your final rank is [12] of 2/).waitFor();
  await shot(page, "over");
  const results = await league?.completed;
  expect(results?.leagues[0]?.matches).toMatchObject([{ termination: "normal" }]);
  expect(await axeFaults(page)).toEqual([]);
});

it("a person moves a piece in chess on a phone, and continues after a reload of the page", async () => {
  const page = await startWithPerson([{ league_id: "chess", game: "chess.v1", options: { max_plies: 4 } }], {
    viewport: { width: 390, height: 844 },
    colorScheme: "dark",
  });
  await status(page, "Your move");
  await shot(page, "chess-phone");
  await page.reload();
  await status(page, "Your move");
  await page.locator('[data-cell="e2"]').click();
  await page.locator('[data-cell="e4"]').click();
  await page.getByLabel("white pawn, e4").waitFor();
  await status(page, "Your move");
  await shot(page, "chess-phone-2");
  await page.locator('[data-cell="d2"]').click();
  await page.locator('[data-cell="d4"]').click();
  await page.locator(".status.result").waitFor();
  expect(await axeFaults(page)).toEqual([]);
});

it("a person sees the board and the name of the opponent while the opponent makes the first move", async () => {
  const { page, bob } = await startWithOpponent("tic_tac_toe.v1");
  await bob.asked();
  await status(page, "(Bob)");
  await expect.poll(() => page.locator(".cell").count()).toBe(9);
  await page.getByText("It is not your turn").waitFor();
  await shot(page, "opening");
  await bob.answer("b2");
  await status(page, "Your move");
  await page.getByLabel(/^b2, x/).waitFor();
});

it("a person waits for the first turn of a game whose opening the invitation does not determine", async () => {
  const { page, bob } = await startWithOpponent("kuhn_poker.v1", PHONE);
  await bob.asked();
  await status(page, "(Bob)");
  await page.getByText("The board appears with your first turn.").waitFor();
  await shot(page, "opening-unknown-phone");
  await bob.answer("check");
  await status(page, "Your move");
  await page.getByRole("button", { name: "bet" }).waitFor();
});

it.each([
  ["on a phone", PHONE],
  ["on a desktop", {}],
])("a person leaves the league %s after a confirmation, and the open match ends at once", async (_, options) => {
  const { page, bob } = await startWithOpponent("chess.v1", options);
  await bob.answer("e2e4");
  await status(page, "Your move");
  const name = "viewport" in options ? "phone" : "desktop";
  await page.getByRole("button", { name: "Leave the league" }).click();
  await shot(page, `leave-${name}`);
  await page.getByRole("button", { name: "No, stay" }).click();
  await page.getByRole("button", { name: "Leave the league" }).click();
  await page.getByRole("button", { name: "Yes, leave" }).click();
  await page.getByRole("heading", { name: "You have left the league" }).waitFor();
  await shot(page, `left-${name}`);
  const results = await league?.completed;
  expect(results?.leagues[0]?.matches).toMatchObject([{ termination: "forfeit", winner: "P01" }]);
  await page.reload();
  await page.locator(".status.result").waitFor();
  await expect.poll(() => page.getByRole("button", { name: /^Leave/ }).count()).toBe(0);
  await shot(page, `over-${name}`);
});

async function openPage(url: string): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(url);
  return page;
}

it("a person with the wrong token sees that the link has no seat", async () => {
  const page = await startWithPerson([{ league_id: "rps", game: "rps.v1" }]);
  await status(page, "Your move");
  await shot(page, "rps");
  const other = await page.context().newPage();
  await other.goto(page.url().replace(/token=.*/, "token=wrong"));
  await other.getByText("This link has no seat in a league").waitFor();
});

const TTT = [{ league_id: "ttt", game: "tic_tac_toe.v1" }];

it("league run waits for a person of its config, who joins by opening the printed link", async () => {
  const players = [
    { name: "Ann", human: true },
    { name: "Bot", bot: "random" },
  ];
  const test = await testLeague([], TTT, { config: { players } });
  const running = run(test, "--json");
  const [, link = ""] = /waiting for Ann to open (\S+)/.exec(await running.line(/waiting for Ann to open/)) ?? [];
  const page = await openPage(link);
  await page.waitForURL(/\/play\/P01#token=/);
  await playFirstMoves(page);
  const ended = await running.ended;
  expect(ended.code, ended.stderr).toBe(0);
  expect(documentOf(ended).leagues[0]?.matches).toMatchObject([{ termination: "normal" }]);
});

it("league join human prints the link of the seat, also when it is repeated, and names what is wrong", async () => {
  const links: string[] = [];
  const person = (name: string): TestPlayer => ({
    name,
    async start({ manager, dataFolder }: TestPlace): Promise<RunningAgent> {
      const join = (...more: string[]) =>
        leagueCommand(["join", "human", "--name", name, "--manager", manager, "--data", dataFolder, ...more]);
      for (const { code, stdout, stderr } of [await join(), await join("--league", "ttt")]) {
        expect(code, stderr).toBe(0);
        links.push(/ is P01 and plays at (\S+)/.exec(stdout)?.[1] ?? stdout);
      }
      expect(await join("--league", "chess")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("no league chess"),
      });
      return { stop: async () => {} };
    },
  });
  league = await startTestLeague({ leagues: TTT, players: [person("Ann"), { name: "Bot", bot: "random" }] });
  expect(links[0]).toBe(links[1]);
  const page = await openPage(links[0] ?? "");
  await playFirstMoves(page);
  expect(await leagueCommand(["join", "human"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--name NAME"),
  });
});
