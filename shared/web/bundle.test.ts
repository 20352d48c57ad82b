import { expect, test } from "vitest";
import { games } from "../games/registry.ts";
import { assets } from "./assets.ts";
import { bundle } from "./bundle.ts";

const ENTRIES = ["board", "games", "leagues", "play"] as const;

/** Returns the scripts of pages as text: the self-contained ones, and those of each entry with the modules that it imports. */
async function scripts(): Promise<readonly string[]> {
  const { board, report } = await bundle();
  const { files, scriptsOf } = await assets();
  const ofEntries = ENTRIES.map((entry) => {
    const { main, imported } = scriptsOf(entry);
    return [main, ...imported].map((path) => String(files.get(path)?.body)).join("");
  });
  return [board, report, ...ofEntries];
}

test("the scripts of the pages contain their JSX runtime, including components outside site/", async () => {
  for (const script of await scripts()) {
    expect(script.length).toBeGreaterThan(1_000);
    expect(script).not.toMatch(/\bReact\./);
  }
});

test("the scripts of the pages contain no game and no chess engine", async () => {
  for (const script of await scripts()) {
    for (const { info } of Object.values(games)) expect(script).not.toContain(info.rules.slice(0, 60));
    expect(script.length).toBeLessThan(150_000);
  }
});

test("the files that a page loads first have less than 45 kB, compressed", async () => {
  const { files, scriptsOf, styleOf } = await assets();
  for (const entry of ENTRIES) {
    const { main, imported } = scriptsOf(entry);
    const paths = [main, ...imported, styleOf(entry)];
    const bytes = paths.reduce((sum, path) => sum + (files.get(path)?.gzip.length ?? Number.NaN), 0);
    expect(bytes).toBeLessThan(45_000);
    expect(bytes).toBeGreaterThan(3_000);
  }
});
