import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { hashOfCommand, hashOfFiles, hashOfImports } from "./loaded-bot.ts";

const root = mkdtempSync(join(tmpdir(), "bot-hash-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(root, "bot-"));
  mkdirSync(join(folder, "node_modules"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

describe("the hash of a bot", () => {
  it("is the SHA-256 of its only file", () => {
    const folder = folderWith({ "bot.ts": "export default 1;" });
    expect(hashOfFiles(folder, [join(folder, "bot.ts")])).toBe(sha256Hex("export default 1;"));
  });

  it("is that of the list of its files, in any order and in any folder", () => {
    const files = { "bot.ts": "one", "search.ts": "two" };
    const [here, there] = [folderWith(files), folderWith(files)];
    const list = `${sha256Hex("one")}  bot.ts\n${sha256Hex("two")}  search.ts\n`;
    expect(hashOfFiles(here, [join(here, "bot.ts"), join(here, "search.ts")])).toBe(sha256Hex(list));
    expect(hashOfFiles(there, [join(there, "search.ts"), join(there, "bot.ts")])).toBe(sha256Hex(list));
  });

  it("covers the imports of a bot file from its folder, and no packages", () => {
    const folder = folderWith({ "bot.ts": "one", "search.ts": "two", "node_modules/lib.js": "three" });
    const [bot, search] = [join(folder, "bot.ts"), join(folder, "search.ts")];
    const hash = hashOfImports(bot, [bot, search, join(folder, "node_modules/lib.js"), join(root, "other.ts")]);
    expect(hash).toBe(hashOfFiles(folder, [bot, search]));
    writeFileSync(search, "changed");
    expect(hashOfImports(bot, [bot, search])).not.toBe(hash);
  });

  it("of a command covers its files and its options, but not the place of the files", () => {
    const [here, there] = [folderWith({ "bot.py": "one" }), folderWith({ "bot.py": "one" })];
    const hash = hashOfCommand("python3 bot.py --depth 3", here);
    expect(hash).toBe(sha256Hex(`python3 ${sha256Hex("one")} --depth 3`));
    expect(hashOfCommand(`python3 "${join(there, "bot.py")}"  --depth 3`, here)).toBe(hash);
    expect(hashOfCommand("python3 bot.py --depth 4", here)).not.toBe(hash);
    writeFileSync(join(here, "bot.py"), "two");
    expect(hashOfCommand("python3 bot.py --depth 3", here)).not.toBe(hash);
  });

  it("is absent if a file cannot be read", () => {
    expect(hashOfFiles(root, [join(root, "absent.ts")])).toBeUndefined();
  });
});
