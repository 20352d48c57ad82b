import { AxeBuilder } from "@axe-core/playwright";
import { expect, it, onTestFinished } from "vitest";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { startTestHost } from "../rest/testing/host.ts";

/** The number of moves of a long game. */
const LONG = 180;

it("the moves of a long game have one tab stop, and a key changes only the former and the new one", async () => {
  const host = await startTestHost();
  onTestFinished(() => host.remove());
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const body = { template: "rps.v1", opponent: "human", options: { best_of: 99 } };
  const { json } = await host.call("POST", "/api/games", { body });
  const tokens = [json.link, json.opponent_link].map((link: string) => link.split("#seat=")[1] ?? "");
  // Each player wins every second round, so that the game is not decided.
  for (let turn = 0; turn < LONG; turn++) {
    const move = turn % 4 === 0 || turn % 4 === 3 ? "rock" : "scissors";
    const token = tokens[turn % 2] ?? "";
    const { status: code, text } = await host.call("POST", `/api/games/${json.game_id}/moves`, {
      body: { move },
      token,
    });
    expect(code, text).toBe(200);
  }
  const page = await (await browser.newContext()).newPage();
  await page.goto(json.link);
  await page
    .locator(".move-list li")
    .nth(LONG - 1)
    .waitFor();
  expect(await page.locator(".moves button:not([tabindex='-1'])").count()).toBe(1);
  await page.evaluate(
    "globalThis.changed = new Set(); new MutationObserver((all) => { for (const { target } of all) changed.add(target); }).observe(document.querySelector('.moves'), { subtree: true, attributes: true, childList: true })",
  );
  await page.locator(".moves button[aria-current]").focus();
  await page.keyboard.press("ArrowLeft");
  await page.locator(".step-text", { hasText: `Step ${LONG - 1} of ${LONG}` }).waitFor();
  expect(await page.evaluate("changed.size")).toBe(2);
  expect(await page.evaluate("document.activeElement.getAttribute('aria-current')")).toBe("step");
  await page.keyboard.press("Home");
  await page.locator(".step-text", { hasText: `Step 0 of ${LONG}` }).waitFor();
  expect(await page.locator(".moves button:not([tabindex='-1'])").count()).toBe(1);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
});
