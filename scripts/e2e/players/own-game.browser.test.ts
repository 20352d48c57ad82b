import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { gameIn, startGameHost } from "../../testing/game-host.ts";
import { cleanUp, newFolder } from "../../testing/processes.ts";
import { documentOf, run, testLeague } from "../../testing/test-league.ts";

/** The folder for screenshots of the inspected pages; none are written if it is not set. */
const FOLDER = process.env.SCREENSHOTS;

/** A game with a board: the players mark the cells of a board of four columns and two rows, and the last mark wins. */
const LAST_MARK = `import { err, type Game, ok, z } from "agent-league/game";

const CELLS = ["a2", "b2", "c2", "d2", "a1", "b1", "c1", "d1"];
type State = { board: string[] };

const cellsOf = ({ board }: State) => board.join("");
const markOf = (state: State) => (cellsOf(state).replaceAll(".", "").length % 2 === 0 ? "x" : "o");
const isOver = (state: State) => !cellsOf(state).includes(".");

const game: Game<object, State, string, State> = {
  id: "last_mark.v1",
  roles: ["x", "o"],
  info: {
    name: "Last mark",
    rules: "Mark an empty cell. The player that marks the last cell wins. An action is a cell, a1 to d2.",
    simultaneous: false,
    hiddenInformation: false,
    maxActions: 8,
    board: "marks",
  },
  options: z.strictObject({}),
  action: z.string(),
  initialState: () => ({ board: ["....", "...."] }),
  toAct: (state) => (isOver(state) ? [] : [markOf(state)]),
  legalActions: (state, role) =>
    role === markOf(state) ? CELLS.filter((_, index) => cellsOf(state)[index] === ".") : [],
  applyAction(state, role, action) {
    if (!game.legalActions(state, role).includes(action)) return err({ message: "mark an empty cell in your turn" });
    const cells = CELLS.map((cell, index) => (cell === action ? role : cellsOf(state)[index])).join("");
    return ok({ board: [cells.slice(0, 4), cells.slice(4)] });
  },
  isTerminal: isOver,
  outcome: (state) => (isOver(state) ? { scores: { x: 0, o: 1 }, reason: "last_mark" } : null),
  viewState: (state) => state,
  toText: ({ board }) => board.join("\\n"),
};

export default game;
`;

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(cleanUp);

async function open(url: string): Promise<Page> {
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(url);
  return page;
}

async function shot(page: Page, name: string): Promise<void> {
  if (!FOLDER) return;
  mkdirSync(FOLDER, { recursive: true });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), fullPage: true });
}

const status = (page: Page, text: string): Promise<void> => page.locator(".status", { hasText: text }).waitFor();

async function expectAccessible(page: Page): Promise<void> {
  expect(await axeFaults(page)).toEqual([]);
}

/** Selects a game in the list of games and starts it against a bot. */
async function startGame(url: string, name: string): Promise<Page> {
  const page = await open(url);
  await page.getByRole("radio", { name, exact: true }).check();
  await page.getByRole("radio", { name: /^Random Plays any legal move/ }).check();
  await shot(page, `games-${name}`);
  await page.getByRole("button", { name: "Start the game" }).click();
  await page.waitForURL(/\/game\/.+#seat=/);
  return page;
}

/** Selects the first action or cell in each turn, until the game has a result. */
async function playFirstMoves(page: Page, move: string): Promise<void> {
  const open = page.locator(move).first();
  const result = page.locator(".status.result");
  for (;;) {
    await open.or(result).first().click();
    if ((await result.count()) > 0) return;
  }
}

it("a person plays the game of new-game by its text, and continues when a host without its file has the file again", async () => {
  const file = gameIn(newFolder());
  const host = await startGameHost([file]);
  const page = await startGame(`${host.url}/`, "Nim");
  await status(page, "Your move");
  await page.getByRole("region", { name: "Nim as text" }).getByText("5 sticks left, first_player to move.").waitFor();
  await shot(page, "nim-turn");
  await page.getByRole("button", { name: "1", exact: true }).click();
  await status(page, "Your move");

  await host.restart([]);
  const reason = page.getByText("The game nim.v1 of this session is not loaded.");
  await reason.waitFor();
  await shot(page, "nim-not-loaded");
  const late = await open(page.url());
  await late
    .getByText("start this server again with --game and the file of the game. This page tries again.")
    .waitFor();
  await shot(late, "nim-not-loaded-opened");
  await host.restart([file]);
  await reason.waitFor({ state: "detached" });
  await status(late, "Your move");
  await playFirstMoves(page, '.actions button[aria-disabled="false"]');
  await page.locator(".result", { hasText: /^You (won|lost) Last taken$/ }).waitFor();
  await page.getByText("The game is over.").waitFor();
  await shot(page, "nim-result");
  await expectAccessible(page);
  await host.stop();
});

it("a person plays a game of a file whose declared board has another width and height", async () => {
  const file = join(newFolder(), "last-mark.ts");
  writeFileSync(file, LAST_MARK);
  const host = await startGameHost([file]);
  const page = await startGame(`${host.url}/`, "Last mark");
  await status(page, "Your move");
  const board = page.getByRole("grid", { name: "Last mark board" });
  await board.waitFor();
  await page.getByLabel("d1, empty").click();
  await page.getByLabel("d1, x").waitFor();
  await status(page, "Your move");
  await shot(page, "last-mark-turn");
  const [first, last] = await Promise.all(
    ["a2", "d1"].map((cell) => page.locator(`[data-cell="${cell}"]`).boundingBox()),
  );
  expect((last?.x ?? 0) - (first?.x ?? 0)).toBeGreaterThan(2.5 * (first?.width ?? 0));
  expect((last?.y ?? 0) - (first?.y ?? 0)).toBeLessThan(1.5 * (first?.height ?? 0));

  await host.restart([]);
  const late = await open(page.url());
  await late.getByText("The game last_mark.v1 of this session is not loaded.").waitFor();
  await host.restart([file]);
  await late.getByRole("grid", { name: "Last mark board" }).waitFor();

  await playFirstMoves(page, ".cell.target");
  await page.locator(".result", { hasText: "You lost Last mark" }).waitFor();
  await shot(page, "last-mark-result");
  await expectAccessible(page);
  await host.stop();
});

it("a person plays a league of a game of a file, and the page of the league shows its name and its result", async () => {
  const players = [
    { name: "Ann", human: true },
    { name: "Bot", bot: "random" },
  ];
  const leagues = [{ league_id: "nim", game: "./nim.ts" }];
  const test = await testLeague([], leagues, { config: { players } });
  gameIn(test.folder);
  const running = run(test, "--json");
  const [, link = ""] = /waiting for Ann to open (\S+)/.exec(await running.line(/waiting for Ann to open/)) ?? [];
  const page = await open(link);
  await page.waitForURL(/\/play\/P01#token=/);
  await status(page, "Your move");
  const dashboard = await open(`http://127.0.0.1:${test.port}/`);
  await dashboard.getByText("Nim", { exact: false }).first().waitFor();
  await shot(page, "league-turn");
  await shot(dashboard, "league-page");
  await playFirstMoves(page, '.actions button[aria-disabled="false"]');
  const ended = await running.ended;
  expect(ended.code, ended.stderr).toBe(0);
  expect(documentOf(ended).leagues[0]).toMatchObject({ game: "nim.v1", matches: [{ reason: "last_taken" }] });
});
