import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { showsRows } from "#shared/web/testing/standings-rows.ts";
import { startManagedLeague } from "../../testing/managed-league.ts";
import { cleanUp } from "../../testing/processes.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(cleanUp);

/** A proxy in front of a manager that counts the open event streams, and can stop to forward them without closing them. */
async function startProxy(target: string) {
  const streams = new Set<{ readonly response: ServerResponse; readonly upstream: IncomingMessage }>();
  let opened = 0;
  let isGone = false;
  const server = createServer((incoming, response) => {
    if (isGone) {
      response.writeHead(404).end();
      return;
    }
    const { headers } = incoming; // the manager compares Host with Origin
    const outgoing = forward(new URL(incoming.url ?? "/", target), { method: incoming.method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
      if (!upstream.headers["content-type"]?.startsWith("text/event-stream")) return;
      const stream = { response, upstream };
      streams.add(stream);
      opened++;
      response.once("close", () => {
        streams.delete(stream);
        upstream.destroy();
      });
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => void server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${port}`,
    open: () => streams.size,
    opened: () => opened,
    /** Ends the open streams, and answers 404 from now on. */
    remove(): void {
      isGone = true;
      for (const { response } of streams) response.end();
    },
    /** Forwards nothing more on the open streams, as after a sleep of the machine. */
    freeze(): void {
      for (const { response, upstream } of streams) upstream.unpipe(response);
    },
  };
}

async function startPage() {
  const league = await startManagedLeague();
  await league.registerPlayers("Ann", "Bob", "Cid", "Dan");
  const proxy = await startProxy(league.url);
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`${proxy.url}/leagues/rps/standings`);
  let navigations = 0;
  page.on("framenavigated", () => navigations++);
  const shows = async (): Promise<void> => {
    await showsRows(page, league.rows());
  };
  await shows();
  return { league, proxy, page, shows, navigations: () => navigations };
}

/** Hides or shows the tab, as far as its page can tell. */
const setHidden = (page: Page, isHidden: boolean): Promise<void> =>
  page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);

it("a hidden tab holds no stream, and shows the current state when it is visible again", async () => {
  const { league, proxy, page, shows, navigations } = await startPage();
  await expect.poll(proxy.open).toBe(1);
  await setHidden(page, true);
  await expect.poll(proxy.open).toBe(0);
  await league.reportWins("R1M1", "R1M2");
  await setHidden(page, false);
  await shows();
  await expect.poll(proxy.open).toBe(1);
  expect(navigations()).toBe(0);
});

it("a stream that sends nothing more is replaced, as after a sleep of the machine", async () => {
  const { league, proxy, shows, navigations } = await startPage();
  await expect.poll(proxy.open).toBe(1);
  proxy.freeze();
  await league.reportWins("R1M1", "R1M2");
  await shows();
  expect([proxy.opened(), navigations()]).toEqual([2, 0]);
});

it("a page of a league that no longer exists says so and keeps its last state", async () => {
  const { proxy, page, shows } = await startPage();
  await expect.poll(proxy.open).toBe(1);
  proxy.remove();
  await page.getByText("no longer exists at the server").waitFor();
  await shows();
});

it("the tabs of a browser that show one page share a stream", async () => {
  const { league, proxy, page, shows } = await startPage();
  const second = await page.context().newPage();
  await second.goto(page.url());
  await league.reportWins("R1M1");
  await shows();
  await second.locator("tbody tr", { hasText: /^1Ann3/ }).waitFor();
  expect(proxy.opened()).toBe(1);
  await page.close();
  await second.close();
  await expect.poll(proxy.open).toBe(0);
});
