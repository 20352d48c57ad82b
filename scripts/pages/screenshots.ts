import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { Browser } from "playwright-core";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { axeFaults } from "#shared/web/testing/axe.ts";
import { launchChromium, setup } from "#shared/web/testing/chromium.ts";
import { indexPage, LOOKS, type Look, looksOf, type Shot } from "./looks.ts";
import { FURTHER_ROWS, openView, overflowOf } from "./open.ts";
import { type Servers, startServers } from "./servers.ts";
import { VIEWS, type View } from "./views.ts";

/** `npm run screenshots`: images of all pages and states in all looks, from real servers in this process. */
const options = withUsageExit(new Command("screenshots"))
  .description(
    "Writes images of every page and state, in light and dark, for desktops, projectors and phones, with a page of all of them. Prints the faults of the pages; with faults the exit code is 1.",
  )
  .option("--out <folder>", "the folder of the images", "data/screenshots")
  .option("--axe", "also check the accessibility of each page with axe")
  .option("--only <text>", "only views whose name contains this text", "")
  .option("--look <text>", "only looks whose name contains this text: desktop, projector, phone, light, dark", "")
  .option("--pages <n>", "the number of pages that are open at the same time", countOption, 3)
  .parse()
  .opts<{ out: string; axe?: boolean; only: string; look: string; pages: number }>();

// Names of players contain emoji, which are boxes without this font.
const EMOJI_FONT = ["/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"];

setup();
requireProgram(EMOJI_FONT, "fonts-noto-color-emoji");
mkdirSync(options.out, { recursive: true });
const servers = await startServers();
const browser = await launchChromium();
const shots = await takeAll(browser, servers);
await browser.close();
await servers.close();
const index = join(options.out, "index.html");
writeFileSync(index, indexPage(shots));
const faulty = shots.filter(({ faults }) => faults.length > 0);
for (const { name, faults } of faulty) for (const fault of faults) process.stdout.write(`${name}: ${fault}\n`);
process.stdout.write(`${shots.length} images, ${faulty.length} with faults: ${index}\n`);
process.exit(faulty.length > 0 ? 1 : 0);

/** Takes all images. Each look has one browser context, so that its pages share their assets. */
async function takeAll(browser: Browser, servers: Servers): Promise<readonly Shot[]> {
  const shots: Shot[] = [];
  for (const look of LOOKS.filter(({ name }) => name.includes(options.look))) {
    const context = await browser.newContext(look.context);
    const views = VIEWS.filter((view) => view.name.includes(options.only) && looksOf(view).includes(look));
    const next = views[Symbol.iterator]();
    const worker = async (): Promise<void> => {
      for (const view of next) shots.push(await take(context, servers, view, look));
    };
    await Promise.all(Array.from({ length: options.pages }, worker));
    await context.close();
  }
  return shots.sort((one, other) => order(one) - order(other));
}

/** The position of an image in the list. */
function order({ view, look }: Shot): number {
  return VIEWS.findIndex(({ name }) => name === view) * LOOKS.length + LOOKS.findIndex(({ name }) => name === look);
}

async function take(context: Parameters<typeof openView>[0], servers: Servers, view: View, look: Look): Promise<Shot> {
  const name = `${view.name}-${look.name}`;
  const { page, faults } = await openView(context, servers, view, look.isProjector);
  const file = `${name}.png`;
  // A projector shows no more than its window.
  const fullPage = !look.isProjector;
  await page.screenshot({ path: join(options.out, file), fullPage, animations: "disabled" });
  const found = [...faults, ...(await overflowOf(page)), ...(options.axe ? await axeFaults(page, FURTHER_ROWS) : [])];
  await page.close();
  return { name, view: view.name, look: look.name, file, faults: found };
}
