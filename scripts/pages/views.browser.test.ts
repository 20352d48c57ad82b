/** All pages and states of VIEWS in Chromium: what axe finds, errors, violations of the content security policy, styles that are
 * not linked, the width on a phone, and the bytes of the first load. */
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { games } from "#shared/games/registry.ts";
import { PAGE_FILES } from "#shared/web/page-files.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { DOCUMENTS } from "../../league-manager/pages/documents/documents.ts";
import { firstLoadOf } from "./first-load.ts";
import { coveredBoardOf, FURTHER_ROWS, missingStylesOf, openView, overflowOf } from "./open.ts";
import { type Servers, startServers } from "./servers.ts";
import { VIEWS } from "./views.ts";

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** The narrowest window without horizontal scrolling (WCAG 1.4.10). */
const NARROW = { width: 320, height: 480 };
/** A small desktop window, and the windows of DESKTOP at a zoom of 200 and 400%. */
const SHORT = [
  { width: 1024, height: 500 },
  { width: 640, height: 400 },
  { width: 320, height: 200 },
] as const;

let browser: Browser;
let servers: Servers;
/** One context for each colour scheme, so that pages share their assets. */
let contexts: readonly BrowserContext[];
beforeAll(async () => {
  [browser, servers] = await Promise.all([launchChromium(), startServers()]);
  contexts = await Promise.all(
    (["light", "dark"] as const).map((colorScheme) =>
      browser.newContext({ colorScheme, viewport: DESKTOP, reducedMotion: "reduce" }),
    ),
  );
});
afterAll(async () => {
  await browser.close();
  await servers.close();
});

it.each(VIEWS.map((view, index) => [view.name, view, index] as const))(
  "%s has no fault, fits a phone and shows its whole board at each size",
  async (_name, view, index) => {
    const { page, faults } = await openView(contexts[index % 2] as BrowserContext, servers, view);
    const axe = await axeFaults(page, FURTHER_ROWS);
    const styles = await missingStylesOf(page);
    const sizes: string[] = [...(await coveredBoardOf(page))];
    for (const size of [PHONE, NARROW, ...SHORT]) {
      await page.setViewportSize(size);
      sizes.push(...(await overflowOf(page)), ...(await coveredBoardOf(page)));
    }
    await page.close();
    expect([...faults, ...axe, ...styles, ...sizes]).toEqual([]);
  },
);

/** The kinds of the pages whose first load has been measured. */
const measured = new Set<string>();

it.each(VIEWS.filter(({ act }) => !act).map((view) => [view.name, view] as const))(
  "the first load of %s has less than 45 kB",
  async (_name, { url, ready = "h1", hasStream = false }) => {
    const { bytes, kind } = await firstLoadOf(browser, url(servers), { ready, hasStream });
    measured.add(kind);
    expect(bytes).toBeGreaterThan(4_000);
    expect(bytes).toBeLessThan(45_000);
  },
);

it("the first load of each kind of page has been measured, and that of a match of each game", () => {
  const kinds = Object.entries(PAGE_FILES).flatMap(([page]) =>
    page === "match" ? Object.values(games).map(({ info }) => `match ${info.board}`) : page,
  );
  const all = [...measured];
  expect(kinds.filter((kind) => !all.some((one) => one === kind || one.startsWith(`${kind} `)))).toEqual([]);
});

it("every kind of page of a league is among the pages", () => {
  const paths = VIEWS.map(({ url }) => new URL(url(servers)).pathname);
  const isShown = (kind: string): boolean => {
    const pattern = new RegExp(`^/leagues/[^/]+${kind === "" ? "" : `/${kind.replaceAll(/:\w+/g, "[^/]+")}`}$`);
    return paths.some((path) => pattern.test(path));
  };
  expect(DOCUMENTS.map(({ path }) => path).filter((path) => !isShown(path))).toEqual([]);
});
