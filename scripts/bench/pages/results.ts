import type { Page } from "playwright-core";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { sendResult } from "../../testing/reported-leagues.ts";
import { type Measured, sleep } from "../process.ts";

const RESULTS = 30;
/** The pause before each result. The page receives all earlier changes in it, so that each result is a separate update. */
const PAUSE_MS = 400;

/**
 * Observes the table. `shownNext` resolves with the time at which it contains the next match, which
 * counts for two players.
 */
const OBSERVE = `
  const main = document.querySelector("main:not(.plain)");
  const played = () => [...main.querySelectorAll("tbody tr")].reduce((sum, row) => sum + parseInt(row.dataset.state), 0);
  window.shownNext = (before = played()) => new Promise((resolve) => {
    const check = () => {
      if (played() < before + 2) return;
      observer.disconnect();
      resolve(Date.now());
    };
    const observer = new MutationObserver(check);
    observer.observe(main, { subtree: true, childList: true, characterData: true, attributes: true });
  });
`;

/**
 * Measures the time from the moment at which a referee sends a result to the manager until the table of an open page contains it. The standings of the
 * page have at most 100 players.
 */
export async function resultTimes(
  page: Page,
  servers: Measured,
  managerUrl: string,
  leagueId: string,
): Promise<readonly number[]> {
  await page.locator("main:not(.plain) tbody tr").first().waitFor();
  await page.evaluate(OBSERVE);
  const times: number[] = [];
  for (let count = 0; count < RESULTS; count++) {
    const { result } = await servers.ask<{ result: Envelope }>(leagueId);
    await sleep(PAUSE_MS);
    await page.evaluate("void (window.result = shownNext())");
    const sentAt = Date.now();
    await sendResult(managerUrl, result);
    times.push(((await page.evaluate("window.result")) as number) - sentAt);
  }
  return times;
}
