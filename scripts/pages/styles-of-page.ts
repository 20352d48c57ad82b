import type { Page } from "playwright-core";
import { assets } from "#shared/web/assets.ts";

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
