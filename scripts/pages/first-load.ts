import type { Browser, Page, Request } from "playwright-core";

/** What a browser without a cache loads for a page. */
interface FirstLoad {
  /** The bytes that are transferred: the document, scripts, styles, images, data and the script of the shared worker. */
  readonly bytes: number;
  /** The kind of the page with its board, e.g. "match chess". */
  readonly kind: string;
}

/** Opens a page without a cache until an element is visible and no request is open. Event streams are not counted. */
export async function firstLoadOf(browser: Browser, url: string, element: string): Promise<FirstLoad> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const requests = requestsOf(page);
    await page.goto(url);
    await page.locator(element).first().waitFor();
    await page.waitForLoadState("load");
    await requests.end();
    const { worker, kind } = (await page.evaluate(FACTS)) as { worker: string; kind: string };
    const sizes = [...(await requests.sizes()), await transferred(page, worker)];
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), kind };
  } finally {
    await context.close();
  }
}

/** The address of the shared worker, which Playwright does not see, and the kind of the page. */
const FACTS = `(() => {
  const { page = "missing", board } = JSON.parse(document.getElementById("setup")?.textContent ?? "{}");
  return { worker: document.documentElement.dataset.worker ?? "", kind: board ? page + " " + board : page };
})()`;

const FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/** Follows the requests of a page. Event streams do not end, and Playwright does not report the end of the script of a shared worker. */
function requestsOf(page: Page) {
  const all = new Set<Request>();
  const open = new Set<Request>();
  let changed = Promise.withResolvers<void>();
  const end = (request: Request): void => {
    open.delete(request);
    changed.resolve();
    changed = Promise.withResolvers();
  };
  page.on("request", (request) => {
    if (request.url().includes("live-worker")) return;
    all.add(request);
    open.add(request);
  });
  page.on("response", (response) => {
    if (!response.headers()["content-type"]?.startsWith("text/event-stream")) return;
    all.delete(response.request());
    end(response.request());
  });
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return {
    /** Resolves when no request is open, and the page has sent none after it has been painted. */
    async end(): Promise<void> {
      for (let known = -1; known !== all.size; await page.evaluate(FRAMES)) {
        known = all.size;
        while (open.size > 0) await changed.promise;
      }
    },
    sizes: () => Promise.all([...all].map(async (request) => (await request.sizes()).responseBodySize)),
  };
}

/** The bytes of a compressed file; 0 without a file. */
async function transferred(page: Page, path: string): Promise<number> {
  if (path === "") return 0;
  const response = await page.request.get(new URL(path, page.url()).href);
  return Number(response.headers()["content-length"]);
}
