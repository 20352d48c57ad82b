import type { BrowserContext, Page } from "playwright-core";
import { assets } from "#shared/web/assets.ts";
import { drawn } from "#shared/web/testing/chromium.ts";
import type { Servers } from "./servers.ts";
import type { View } from "./views.ts";

/** A page that is complete, with its faults so far. */
interface OpenView {
  readonly page: Page;
  readonly faults: readonly string[];
}

/** Opens a view. Its faults are errors on the console, which include violations of the content security policy, uncaught errors and a wrong status. */
export async function openView(
  context: BrowserContext,
  servers: Servers,
  { url, status = 200, ready = "h1", act }: View,
  isProjector = false,
): Promise<OpenView> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    const isOwnStatus = status !== 200 && message.location().url === page.url();
    if (message.type() === "error" && !isOwnStatus) faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  const address = new URL(url(servers));
  if (isProjector) address.searchParams.set("projector", "");
  const response = await page.goto(address.href);
  if (response?.status() !== status) faults.push(`status ${response?.status()} in place of ${status}`);
  const visible = isProjector ? ".projector" : ready;
  const isReady = await page
    .locator(visible)
    .first()
    .waitFor()
    .then(
      () => true,
      () => false,
    ); // prettier-ignore
  if (!isReady) faults.push(`no element ${visible}`);
  else {
    await drawn(page);
    await act?.(page, servers);
  }
  // Fonts are there, and the page has been painted.
  await page.evaluate(
    "document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))",
  );
  return { page, faults };
}

/** Returns the elements with which a page is wider than its window. */
export async function overflowOf(page: Page): Promise<readonly string[]> {
  const wide = await page.evaluate(`(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= innerWidth) return [];
    const isCut = (one) => one && (getComputedStyle(one).overflowX !== "visible" || isCut(one.parentElement));
    return [...document.body.querySelectorAll("*")]
      .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !isCut(one.parentElement))
      .map((one) => one.tagName.toLowerCase() + (one.className ? "." + one.className : ""))
      .slice(0, 3)
      .concat("page " + root.scrollWidth + " px");
  })()`);
  return (wide as readonly string[]).map((element) => `wider than the window: ${element}`);
}

/** Returns a fault if the controls for the steps of a game cover its board while the page is scrolled to its end. */
export async function coveredBoardOf(page: Page): Promise<readonly string[]> {
  const places = await page.evaluate(`(() => {
    const [bar, board] = [document.querySelector(".steps"), document.querySelector(".board")];
    if (!bar || !board) return [];
    const covered = [];
    for (let top = 0; top < document.documentElement.scrollHeight; top += 50) {
      scrollTo(0, top);
      const [over, under] = [bar.getBoundingClientRect(), board.getBoundingClientRect()];
      const isBeside = over.left >= under.right || over.right <= under.left;
      if (!isBeside && over.top < under.bottom - 1 && over.bottom > under.top + 1) covered.push(top);
    }
    return covered;
  })()`);
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  return (places as readonly number[])
    .slice(0, 1)
    .map((top) => `the steps cover the board in ${width} × ${height} px, scrolled to ${top} px`);
}

/** The rows of long tables that are like the ones before them. A crosstable of 100 players has 10,000 cells, which take axe a minute. */
export const FURTHER_ROWS = "tbody tr:nth-child(n+6)";

/** Returns the rules that apply to elements of a page, but are in a style that the page does not link. */
export async function missingStylesOf(page: Page): Promise<readonly string[]> {
  const styles = [...(await assets()).files]
    .filter(([path]) => path.endsWith(".css"))
    .map(([path, { body }]) => [path, String(body)] as const);
  const selectors = await page.evaluate(`(() => {
    const linked = [...document.querySelectorAll("link[rel=stylesheet]")].map(({ href }) => new URL(href).pathname);
    const applied = (rule) =>
      rule instanceof CSSStyleRule
        ? document.querySelector(rule.selectorText) ? [rule.selectorText] : []
        : [...(rule.cssRules ?? [])].flatMap(applied);
    return ${JSON.stringify(styles)}.filter(([path]) => !linked.includes(path)).flatMap(([path, text]) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(text);
      return [...sheet.cssRules].flatMap(applied).map((selector) => path + ": " + selector);
    });
  })()`);
  return (selectors as readonly string[]).map((selector) => `a style is not linked: ${selector}`);
}
