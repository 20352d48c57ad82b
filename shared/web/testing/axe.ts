import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** Returns what axe finds on a page, except in the elements that `excluded` selects. */
export async function axeFaults(page: Page, excluded?: string): Promise<readonly string[]> {
  // During a transition, the contrast of colours is lower than before and after it.
  await page.evaluate("Promise.allSettled(document.getAnimations().map(({ finished }) => finished))");
  // This mode does not support frames of other sites, which the pages do not have. It takes half the time.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await (excluded === undefined ? axe : axe.exclude(excluded)).analyze();
  return violations.map(({ id, impact, nodes }) => {
    const elements = nodes.slice(0, 3).map(({ html }) => html.slice(0, 160));
    return `axe ${id} (${impact}): ${elements.join(" | ")}`;
  });
}
