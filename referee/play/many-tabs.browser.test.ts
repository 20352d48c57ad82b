import { expect, it, onTestFinished } from "vitest";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { startTestHost } from "../rest/testing/host.ts";

const TABS = 8;
const CENTER = '[data-cell="b2"]';

it("eight visible pages of one game show each move, although a browser allows six connections to a server", async () => {
  const host = await startTestHost();
  const browser = await launchChromium();
  onTestFinished(async () => {
    await browser.close();
    await host.remove();
  });
  const context = await browser.newContext();
  const pages = await Promise.all(Array.from({ length: TABS }, () => context.newPage()));
  const [person] = pages as [(typeof pages)[number]];
  await person.goto(host.url);
  await person.getByRole("radio", { name: "Tic-tac-toe", exact: true }).check();
  await person.getByRole("radio", { name: "X", exact: true }).check();
  await person.getByRole("radio", { name: /^A friend/ }).check();
  await person.getByRole("button", { name: "Start the game" }).click();
  await person.waitForURL(/\/game\/.+#seat=/);
  for (const page of pages.slice(1)) await page.goto(person.url());
  const marked = () => Promise.all(pages.map((page) => page.locator(CENTER).getAttribute("aria-label")));
  await expect.poll(marked).toEqual(Array(TABS).fill(expect.stringMatching(/^b2, empty/)));
  await pages.at(-1)?.click(CENTER);
  await expect.poll(marked).toEqual(Array(TABS).fill(expect.stringMatching(/^b2, x/)));
  // A closed page gives its stream to another one, so that the last two no longer fetch the game repeatedly.
  const streams = pages.slice(TABS - 2).map((page) => page.waitForRequest(/\/events$/));
  for (const page of pages.slice(0, TABS - 2)) await page.close();
  await Promise.all(streams);
});
