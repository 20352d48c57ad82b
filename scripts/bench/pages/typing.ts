import type { Page } from "playwright-core";
import type { Measured } from "../process.ts";

/** What happens while a person types on a page whose crosstable changes. */
export interface Typing {
  /** The number of keys that were pressed, and that reached the field. */
  readonly pressed: number;
  readonly received: number;
  /** The number of times that the page has changed its table meanwhile. */
  readonly updates: number;
  /** The longest task of the page's thread; 0 if none took 50 ms. */
  readonly longestTaskMs: number;
  /** The longest time from a key until the next frame; 0 if all took less than 16 ms. */
  readonly slowestKeyMs: number;
}

const KEYS = 100;
const KEY_MS = 50;
/** The pause between two results, in which about ten results come in a second. */
const RESULTS_WHILE_TYPING = 40;

/** Adds a text field to the page and observes its tasks, its keys and its table. */
const OBSERVE_TYPING = `
  window.seen = { updates: 0, task: 0, key: 0 };
  const observe = (type, field, options) => new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen[field] = Math.max(seen[field], duration);
  }).observe({ type, ...options });
  observe("longtask", "task");
  observe("event", "key", { durationThreshold: 16 });
  new MutationObserver(() => seen.updates++).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
  const field = document.createElement("input");
  document.body.prepend(field);
  field.focus();
  window.typed = () => field.value.length;
`;

/** Types while the servers report results. */
export async function typeDuringUpdates(page: Page, servers: Measured): Promise<Typing> {
  await page.locator("main:not(.plain) tbody tr").first().waitFor();
  await page.evaluate(OBSERVE_TYPING);
  const reporting = (async () => {
    for (let result = 0; result < RESULTS_WHILE_TYPING; result++) {
      await servers.ask(1);
      await page.waitForTimeout((KEYS * KEY_MS) / RESULTS_WHILE_TYPING);
    }
  })();
  for (let key = 0; key < KEYS; key++) await page.keyboard.press("a", { delay: KEY_MS });
  await reporting;
  const seen = (await page.evaluate("({ ...seen, received: typed() })")) as Record<string, number>;
  const { updates = 0, task = 0, key = 0, received = 0 } = seen;
  return { pressed: KEYS, received, updates, longestTaskMs: task, slowestKeyMs: key };
}
