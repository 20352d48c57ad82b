import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { cleanUp, league, newFolder, root } from "../../testing/processes.ts";

afterEach(cleanUp);

const read = (file: string): string => readFileSync(join(root, file), "utf8");

/** The code of the bot of a document that repeats the last choice of its opponent. */
const repeatingBot = (text: string, language: string): string => {
  const blocks = [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, code = ""]) => code);
  return blocks.find((code) => code.includes("previous_rounds")) ?? expect.fail("the document has no such bot");
};

/** The arguments of the first `league match` of a document, with the path of the bot. */
function firstMatch(text: string, bot: string): readonly string[] {
  const [, args = ""] = /^npm run league -- match ([^#\n]*)/m.exec(text) ?? [];
  return [
    "match",
    ...args
      .trim()
      .split(/\s+/)
      .map((word) => (/\/bot\.\w+$/.test(word) ? bot : word)),
    "--data",
    newFolder(),
  ];
}

it("the bot of README.md is better than the opponent of its first comparison, and the sentence is the one shown", async () => {
  const text = read("README.md");
  const folder = join(newFolder(), "my-bot");
  mkdirSync(folder);
  const bot = join(folder, "bot.ts");
  writeFileSync(bot, repeatingBot(text, "ts"));
  const { code, stdout, stderr } = await league(firstMatch(text, bot));
  expect(code, stderr).toBe(0);
  const sentence = stdout.trimEnd().split("\n").at(-1) ?? "";
  expect(sentence).toMatch(/^my-bot is better than cycle: /);
  expect(text).toContain(`\`${sentence}\``);
});

it("the first comparison of docs/comparing.md prints what the page shows", async () => {
  const text = read("docs/comparing.md");
  const [, shown = ""] = /```\n(rps\.v1 .*?)```/s.exec(text) ?? [];
  const { code, stdout, stderr } = await league(firstMatch(text, ""));
  expect([code, stdout], stderr).toEqual([0, shown]);
  expect(shown).toMatch(/ is better than .*\n$/);
});

it.each([
  ["ts", (_: string, code: string) => code],
  ["py", (starter: string, code: string) => starter.replace(/^def choose\(.*?\n\n\n/ms, () => `${code}\n\n`)],
])(
  "a bot of new-bot wins the comparison of its README when it has the code of docs/bots.md: %s",
  async (lang, changed) => {
    const path = join(newFolder(), "my-bot");
    await league(["new-bot", path, "--lang", lang]);
    const bot = join(path, `bot.${lang}`);
    const language = { ts: "ts", py: "python" }[lang] ?? lang;
    const starter = readFileSync(bot, "utf8");
    const args = firstMatch(readFileSync(join(path, "README.md"), "utf8"), bot);
    writeFileSync(bot, changed(starter, repeatingBot(read("docs/bots.md"), language)));
    const { code, stdout, stderr } = await league(args);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/\nmy-bot is better than cycle: /);
  },
);
