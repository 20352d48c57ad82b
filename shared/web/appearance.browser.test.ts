import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CodenamesView } from "../games/codenames-view.ts";
import { assets } from "./assets.ts";
import { embeddedBoard } from "./bundle.ts";
import type { GameSummary, GameView } from "./game-view.ts";
import { sitePage } from "./site-page.ts";
import { axeFaults } from "./testing/axe.ts";
import { launchChromium } from "./testing/chromium.ts";
import { chessAt, testingGame } from "./testing/games.ts";

/** The folder for screenshots, from the environment variable `SCREENSHOTS`; no screenshots are taken without it. */
const FOLDER = process.env.SCREENSHOTS;
const LIGHT = { colorScheme: "light", viewport: { width: 720, height: 860 } } as const;
const DARK = { ...LIGHT, colorScheme: "dark" } as const;
const PHONE = { ...LIGHT, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
const DARK_PHONE = { ...PHONE, colorScheme: "dark" } as const;
type Look = typeof LIGHT | typeof DARK | typeof PHONE | typeof DARK_PHONE;

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

const CHECK = "rnb1kbnr/pppp1ppp/8/4p3/7q/5P2/PPPPP1PP/RNBQKBNR w KQkq - 1 3";
const PROMOTION = "8/P6k/8/8/8/8/7K/8 w - - 0 1";
const played = (template: string, moves: readonly unknown[], role: string, options: object = {}): GameView => {
  const game = testingGame(template, options, role);
  for (const move of moves) game.play(game.view(role).to_act[0] ?? "", move);
  return game.view(role);
};
/** Returns a role of the team that begins, which the seed of the game decides. */
const codenamesRole = (half: string): string =>
  `${testingGame("codenames.v1").view("spectator").to_act[0]?.split("_")[0]}_${half}`;
function afterGuess(): GameView {
  const team = codenamesRole("team");
  const clue = { type: "clue", word: "QUIXOTIC", number: 3 };
  const words = played("codenames.v1", [], codenamesRole("spymaster")).state as CodenamesView;
  const ownWord = words.cards.find(({ identity }) => team.startsWith(String(identity)))?.word;
  return played("codenames.v1", [clue, { type: "guess", word: ownWord }], team);
}
/** Words of ten letters and more, with spaces, hyphens and accents. */
const LONG_WORDS =
  `MICROSCOPE,EARTHQUAKE,STRAWBERRY,HELICOPTER,LIGHTHOUSE,WASHINGTON,SUBMARINE,ICE CREAM,NEW YORK,MOUNTAIN,
MERRY-GO-ROUND,KRANKENWAGENFAHRER,ÉLÉPHANT,CHOCOLATE,ORCHESTRA,WHALE,SUN,PARACHUTE,CATHEDRAL,SATELLITE,GRAVEYARD,NAPKIN,TELESCOPE,
HEDGEHOG,MUSHROOM`
    .split(",")
    .map((word) => word.trim());
function longWords(role: string): GameView {
  const game = testingGame("codenames.v1", { words: LONG_WORDS, starting_team: "red" }, role);
  if (role === "red_team") game.play("red_spymaster", { type: "clue", word: "QUIXOTIC", number: 3 });
  return game.view(role);
}
const afterOpening = (): GameView => played("chess.v1", ["e2e4", "e7e5"], "white");
const pick =
  (...squares: readonly string[]) =>
  async (page: Page): Promise<void> => {
    for (const square of squares) await page.click(`[data-cell="${square}"]`);
  };

const looks: readonly [name: string, game: () => GameView, look: Look, act?: (page: Page) => Promise<void>][] = [
  ["chess, light", afterOpening, LIGHT, pick("g1")],
  ["chess, dark", afterOpening, DARK, pick("g1")],
  ["chess on a phone", afterOpening, PHONE, pick("d2")],
  ["chess from black's side", () => played("chess.v1", ["e2e4"], "black"), LIGHT],
  ["check", () => chessAt(CHECK), DARK],
  ["promotion", () => chessAt(PROMOTION), LIGHT, pick("a7", "a8")],
  ["promotion on a phone", () => chessAt(PROMOTION), PHONE, pick("a7", "a8")],
  ["chess, finished", () => played("chess.v1", ["f2f3", "e7e5", "g2g4", "d8h4"], "black"), LIGHT],
  ["a claim", afterOpening, LIGHT, (page) => page.getByRole("button", { name: "Claim checkmate" }).click()],
  ["connect four", () => played("connect_four.v1", [4, 4, 3, 5], "red"), PHONE],
  ["tic-tac-toe", () => played("tic_tac_toe.v1", ["b2", "a1"], "x"), PHONE],
  ["codenames, a spymaster on a phone", () => played("codenames.v1", [], codenamesRole("spymaster")), PHONE],
  ["codenames, a team after a guess", afterGuess, DARK],
  ["codenames, the longest words", () => longWords("red_spymaster"), DARK_PHONE],
  ["codenames, the selected word", () => longWords("red_team"), PHONE, pick("MICROSCOPE")],
  ["codenames, a spectator", afterGuess, LIGHT],
  ["connect four, finished", () => played("connect_four.v1", [1, 2, 1, 2, 1, 2, 1], "spectator"), DARK],
  ["tic-tac-toe, finished", () => played("tic_tac_toe.v1", ["b2", "a1", "a3", "b1", "c1"], "o"), DARK_PHONE],
  ["kuhn poker", () => played("kuhn_poker.v1", ["check"], "player_2"), LIGHT],
  ["kuhn poker, after a hand", () => played("kuhn_poker.v1", ["check", "check"], "spectator"), DARK],
  ["kuhn poker on a phone", () => played("kuhn_poker.v1", ["bet", "fold", "bet"], "player_1"), PHONE],
  ["even or odd", () => played("even_odd.v1", [], "ODD"), DARK],
  ["even or odd, after a round", () => played("even_odd.v1", [3, 4], "EVEN"), PHONE],
  ["rock, paper, scissors", () => played("rps.v1", ["rock"], "player_1"), LIGHT],
  [
    "rock, paper, scissors on a phone",
    () => played("rps.v1", ["rock", "paper"], "player_1", { best_of: 5 }),
    DARK_PHONE,
  ],
  ["a game without a board", () => ({ ...played("rps.v1", [], "player_1"), template: "unknown.v1" }), PHONE],
];

it.each(looks)("%s is accessible and not wider than the window", async (name, game, look, act) => {
  const page = await (await browser.newContext(look)).newPage();
  await page.setContent(await embeddedBoard({ mode: "embed", game: game() }));
  await act?.(page);
  expect(await page.evaluate(CUT_WORDS)).toEqual([]);
  if ("isMobile" in look) expect(await page.evaluate(SMALL_TARGETS)).toEqual([]);
  await inspect(page, name);
});

/** The words of Codenames that do not fit in their cards, or in fewer than three lines. */
const CUT_WORDS = `[...document.querySelectorAll(".words .cell")].flatMap((cell) => {
  const word = cell.querySelector(".word");
  const [inner, outer] = [word.getBoundingClientRect(), cell.getBoundingClientRect()];
  const isCut = word.scrollWidth > word.clientWidth + 1 && word.clientWidth > 0 || inner.left < outer.left || inner.right > outer.right;
  const lines = inner.height / parseFloat(getComputedStyle(word).lineHeight);
  const expected = Math.max(1, word.textContent.split(/[ -]/).length, word.children.length);
  return isCut || lines > expected + 0.5 ? [word.textContent + " " + lines] : [];
})`;
/** The targets on the board that are smaller than 44 px. */
const SMALL_TARGETS = `[...document.querySelectorAll(".board :is(.target, .movable, .action, .guess button, .clue :is(button, input, select))")].flatMap((target) => {
  const { width, height } = target.getBoundingClientRect();
  return width < 44 || height < 44 ? [target.outerHTML.slice(0, 120) + " " + width + " x " + height] : [];
})`;

const summary = (status: string, template: string, players: GameSummary["players"], hour: number): GameSummary => ({
  game_id: `s_${hour}`,
  template,
  status,
  created_at: `2026-11-21T${hour}:05:00.000Z`,
  players,
  result:
    status === "completed" ? { winners: ["red"], winner: "red", reason: "four_in_a_row", termination: "normal" } : null,
});
const GAMES = [
  summary("active", "chess.v1", { white: "Ann", black: "greedy" }, 15),
  summary("active", "kuhn_poker.v1", { player_1: "Claude", player_2: "agent" }, 14),
  summary("completed", "connect_four.v1", { red: "Claude, who has a rather long name", yellow: "counter" }, 13),
];

it.each([
  ["the list of games", LIGHT],
  ["the list of games, dark", DARK],
  ["the list of games on a phone", PHONE],
] as const)("%s is accessible and not wider than the window", async (name, look) => {
  const page = await (await browser.newContext(look)).newPage();
  const html = await sitePage({ page: "games", title: "Games", servers: { leagues: null, games: "" } });
  const { files } = await assets();
  await page.route("http://games.test/assets/*", (route) => {
    const file = files.get(new URL(route.request().url()).pathname);
    return route.fulfill({ contentType: file?.type ?? "", body: file?.body ?? "" });
  });
  await page.route("http://games.test/", (route) => route.fulfill({ contentType: "text/html", body: html }));
  await page.route("http://games.test/api/games", (route) => route.fulfill({ json: { games: GAMES } }));
  await page.route("http://games.test/api/new-game", (route) => route.fulfill({ json: { games: [] } }));
  await page.goto("http://games.test/");
  await page.getByRole("heading", { name: "Finished" }).waitFor();
  await inspect(page, name);
});

/** Takes a screenshot if configured. Expects no serious fault of accessibility and no horizontal scrolling. */
async function inspect(page: Page, name: string): Promise<void> {
  if (FOLDER) {
    mkdirSync(FOLDER, { recursive: true });
    await page.screenshot({ path: join(FOLDER, `${name.replaceAll(/\W+/g, "-")}.png`) });
  }
  const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  const faults = await axeFaults(page);
  await page.context().close();
  expect(faults).toEqual([]);
  expect(isWide).toBe(false);
}
