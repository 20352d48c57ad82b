import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findGame } from "#shared/games/registry.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import type { Command } from "#shared/session/session.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import type { ExportedMatch } from "../format.ts";
import { htmlReport } from "./html.ts";
import type { ReportLeague } from "./report-run.ts";
import { writeReports } from "./write-reports.ts";

/** The folder for screenshots, from the environment variable `SCREENSHOTS`; no screenshots are taken without it. */
const FOLDER = process.env.SCREENSHOTS;
const HOSTILE = `</script><script>globalThis.hacked = 1</script><img src=x onerror="hacked=1">"'&\u202e<!--`;
const PLAYERS = [
  { player_id: "P01", display_name: HOSTILE },
  { player_id: "P02", display_name: "Bob" },
];

let folder: string;
let browser: Browser;
let file: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "report-"));
  const games = ["chess.v1", "connect_four.v1", "kuhn_poker.v1", "rps.v1"];
  await writeReports(folder, ["html"], games.map(leagueOf), await htmlReport());
  file = join(folder, "report.html");
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

const OPTIONS: Readonly<Record<string, object>> = { "chess.v1": { max_plies: 30 }, "rps.v1": { best_of: 5 } };

/** A league with two random matches, one of them forfeited after two actions. */
function leagueOf(gameId: string): ReportLeague {
  const matches = [1, 2].map((round) => matchOf(gameId, round, round === 2));
  const row = { played: 2, wins: 1, draws: 0, losses: 1, points: 3, tie_breaks: { buchholz: 3 } };
  return {
    league_id: `league ${gameId}`,
    game: gameId,
    status: "completed",
    players: PLAYERS,
    matches: () => matches,
    roles: Object.keys(matches[0]?.roles ?? {}),
    byes: [],
    teams: [],
    standings: PLAYERS.map((player) => ({ rank: 1, ...player, ...row })),
  };
}

function matchOf(gameId: string, round_id: number, isForfeited: boolean): ExportedMatch {
  const game = findGame(gameId);
  if (!game) throw new Error(`no game ${gameId}`);
  const [first = "", second = ""] = game.roles;
  const match = {
    league_id: `league ${gameId}`,
    match_id: `R${round_id}M1`,
    roles: { [first]: "P01", [second]: "P02" },
  };
  const random = createRandom(`${gameId}/${round_id}`);
  const options = game.options.parse(OPTIONS[gameId] ?? {});
  const seed = "seed";
  const commands: Command[] = [];
  let state = game.initialState({ options, seed });
  while (!game.isTerminal(state) && !(isForfeited && commands.length >= 2)) {
    const [role = ""] = game.toAct(state);
    const action = random.pick(game.legalActions(state, role));
    commands.push(act(role, action));
    const applied = game.applyAction(state, role, action);
    if (!applied.ok) throw new Error(applied.error.message);
    state = applied.value;
  }
  if (isForfeited) commands.push({ type: "forfeit", faults: [{ role: first, cause: "timeout", detail: "no answer" }] });
  const setup = { id: "s", game, options, participants: participantsOf(match), seed, at: "2026-11-23T10:00:00.000Z" };
  const { session, log, head } = playSession(setup, commands);
  const outcome = outcomeOf(session, head, match.roles);
  return {
    ...match,
    ...outcome,
    round_id,
    game: gameId,
    options,
    referee_id: "REF01",
    epoch: 1,
    seed,
    log: [...log],
  } as ExportedMatch;
}

/** Opens the report from the disk. Returns the page with the requests and errors so far. */
async function open(options: BrowserContextOptions = {}, anchor = "") {
  const page = await (await browser.newContext(options)).newPage();
  const seen: string[] = [];
  page.on("request", (request) => seen.push(`request ${request.url()}`));
  page.on("pageerror", (error) => seen.push(`error ${error.message}`));
  page.on("console", (message) => seen.push(`console ${message.text()}`));
  const url = pathToFileURL(file).href + anchor;
  await page.goto(url);
  await page.getByRole("group", { name: "Steps" }).waitFor();
  expect(seen).toEqual([`request ${url.split("#")[0]}`]);
  return { page, seen };
}

const stepText = (page: Page): Promise<string | null> => page.locator(".step-text").textContent();

it("opens from the disk, requests nothing, and shows hostile names as text", async () => {
  const { page, seen } = await open();
  expect(await page.evaluate("globalThis.hacked")).toBe(undefined);
  expect(await page.locator("img").count()).toBe(0);
  const shown = HOSTILE.replace("\u202e", "\\u{202e}");
  await page.getByRole("rowheader", { name: shown }).first().waitFor();
  await expect.poll(() => page.locator(".players").textContent()).toContain("globalThis.hacked");
  await expect.poll(() => page.locator("option").first().textContent()).toContain("<img src=x");
  for (const name of await page.locator("option").evaluateAll((options) => options.map((_, index) => index))) {
    await page.getByRole("combobox").selectOption({ index: name });
    await page.getByRole("button", { name: "Last step" }).click();
  }
  expect(await page.evaluate("globalThis.hacked")).toBe(undefined);
  expect(seen).toHaveLength(1);
});

it("has a policy without inline exceptions, which the browser enforces", async () => {
  const policy = /content-security-policy" content="([^"]*)"/.exec(readFileSync(file, "utf8"))?.[1];
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+'; img-src data:; base-uri 'none'; form-action 'none'$/,
  );
  const { page, seen } = await open();
  await page.evaluate(`
    const script = document.createElement("script");
    script.textContent = "globalThis.hacked = 1";
    document.body.append(script);
    fetch("http://127.0.0.1:9/").catch(() => {});
  `);
  expect(await page.evaluate("globalThis.hacked")).toBe(undefined);
  await expect.poll(() => seen.filter((line) => line.includes("Content Security Policy"))).not.toEqual([]);
});

it("shows a match step by step, with the keyboard alone", async () => {
  const { page } = await open();
  await expect.poll(() => stepText(page)).toBe("Step 0 of 30");
  await page.getByRole("button", { name: "Next step" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await expect.poll(() => stepText(page)).toMatch(/^Step 2 of 30 · black: \S+$/);
  await page.getByRole("slider").focus();
  await page.keyboard.press("End");
  await expect.poll(() => stepText(page)).toMatch(/^Step 30 of 30/);
  await expect.poll(() => page.locator(".status").textContent()).toBe("Draw: move limit");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => stepText(page)).toMatch(/^Step 29 of 30/);
});

it("follows the link of a match, and shows a forfeit with its reason", async () => {
  const { page } = await open({}, "#replay-4");
  await page.getByRole("group", { name: "Connect Four board" }).waitFor();
  await page.getByRole("button", { name: "Last step" }).click();
  await expect.poll(() => page.locator(".status").textContent()).toMatch(/^yellow \(Bob\) wins: forfeit, /);
  await page.locator('a[href="#replay-5"]').click();
  await page.getByText("Pot: 2 chips").waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("replay-5");
});

it("scrolls to the board of the match of a link, also when it has been loaded", async () => {
  const { page } = await open({ viewport: { width: 1280, height: 800 } });
  await page.locator('a[href="#replay-3"]').click();
  const board = page.getByRole("group", { name: "Connect Four board" });
  await board.waitFor();
  await expect.poll(async () => (await board.boundingBox())?.y).toBeLessThan(400);
  expect((await board.boundingBox())?.y).toBeGreaterThan(0);
});

it("shows both choices of a simultaneous turn in one step", async () => {
  const { page } = await open({}, "#replay-7");
  const hands = page.locator(".seat .hand");
  expect(await hands.count()).toBe(0);
  await page.getByRole("button", { name: "Next step" }).click();
  await expect.poll(() => hands.count()).toBe(2);
});

it.each([
  ["light", { colorScheme: "light", viewport: { width: 1000, height: 900 } }],
  ["dark", { colorScheme: "dark", viewport: { width: 1000, height: 900 } }],
  ["phone", { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true }],
  ["print", { colorScheme: "dark", viewport: { width: 720, height: 900 } }],
] as const)("is accessible and not wider than the window: %s", async (name, look) => {
  const { page } = await open(look);
  if (name === "print") await page.emulateMedia({ media: "print" });
  if (FOLDER) {
    mkdirSync(FOLDER, { recursive: true });
    await page.screenshot({ path: join(FOLDER, `report-${name}.png`), fullPage: true });
  }
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  if (name === "print") {
    expect(await page.getByRole("slider").count()).toBe(0);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    return;
  }
  expect(await axeFaults(page)).toEqual([]);
});
