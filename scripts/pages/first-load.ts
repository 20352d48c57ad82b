import type { Browser, Page, Request, Response } from "playwright-core";

/** What a browser without a cache loads for a page. */
interface FirstLoad {
  /** The bytes that are transferred: the document, scripts, styles, images, data and the script of the shared worker. */
  readonly bytes: number;
  /** The kind of the page with its board, e.g. "match chess". */
  readonly kind: string;
}

/** How a browser knows that a page is complete. */
interface Completeness {
  /** An element that is visible then. */
  readonly ready: string;
  /** Whether the page has also opened an event stream itself by then; by default it opens none. */
  readonly hasStream?: boolean;
}

/** Opens a page without a cache until it is complete and no request is open. Event streams are not counted. */
export async function firstLoadOf(
  browser: Browser,
  url: string,
  { ready, hasStream }: Completeness,
): Promise<FirstLoad> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const requests = requestsOf(page);
    await Promise.all([page.goto(url), hasStream && page.waitForResponse(isStream)]);
    await page.locator(ready).first().waitFor();
    await page.waitForLoadState("load");
    await requests.end();
    const { worker, kind } = (await page.evaluate(FACTS)) as { worker: string; kind: string };
    const sizes = [...(await requests.sizes()), await transferred(page, worker)];
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), kind };
  } finally {
    await context.close();
  }
}

const isStream = (response: Response): boolean =>
  response.headers()["content-type"]?.startsWith("text/event-stream") === true;

/** The address of the shared worker, which Playwright does not see, and the kind of the page. */
const FACTS = `(() => {
  const { page = "missing", board } = JSON.parse(document.getElementById("setup")?.textContent ?? "{}");
  return { worker: document.documentElement.dataset.worker ?? "", kind: board ? page + " " + board : page };
})()`;

const FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/** Follows the requests of a page. Event streams do not end, and Playwright does not report the end of the script of a shared worker. */
function requestsOf(page: Page) {
  let sent = 0;
  const open = new Set<Request>();
  /** The requests that have succeeded. The size of an open request is known only at its end, which an event stream does not have. */
  const finished: Request[] = [];
  let changed = Promise.withResolvers<void>();
  const end = (request: Request): void => {
    open.delete(request);
    changed.resolve();
    changed = Promise.withResolvers();
  };
  page.on("request", (request) => {
    if (request.url().includes("live-worker")) return;
    sent += 1;
    open.add(request);
  });
  page.on("response", (response) => {
    if (isStream(response)) end(response.request());
  });
  page.on("requestfinished", (request) => {
    finished.push(request);
    end(request);
  });
  page.on("requestfailed", end);
  return {
    /** Resolves when no request is open, and the page has sent none after it has been painted. */
    async end(): Promise<void> {
      for (let known = -1; known !== sent; await page.evaluate(FRAMES)) {
        known = sent;
        while (open.size > 0) await changed.promise;
      }
    },
    sizes: () => Promise.all(finished.map(async (request) => (await request.sizes()).responseBodySize)),
  };
}

/** The bytes of a compressed file; 0 without a file. */
async function transferred(page: Page, path: string): Promise<number> {
  if (path === "") return 0;
  const response = await page.request.get(new URL(path, page.url()).href);
  return Number(response.headers()["content-length"]);
}
