import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { MatchInfo, Turn } from "../sdk.ts";
import { botHome } from "../testing/home.ts";
import { isBotFile, isModuleFile, isProgramFile } from "./bot-files.ts";
import { loadBot } from "./load-bot.ts";

let folder = "";
let bot: LoadedBot | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "programs-"));
});
afterEach(async () => {
  await bot?.close?.();
  bot = undefined;
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a file and returns its path. */
function write(name: string, text: string, mode = 0o755): string {
  const file = join(folder, name);
  writeFileSync(file, text, { mode });
  return file;
}

/** A program that answers a turn with its working directory. */
const PROGRAM = `#!${process.execPath}
process.stdin.on("data", () => console.log(JSON.stringify({ action: process.cwd() })));
`;

async function actionOf(loaded: LoadedBot): Promise<unknown> {
  const player = loaded.create(() => {});
  const match = { leagueId: "rps", matchId: "R1M1", epoch: 1, game: "rps.v1", options: {}, role: "a", roles: {} };
  void player.start?.(match as MatchInfo);
  const turn = { tick: 0, view: {}, legal: [], signal: new AbortController().signal, random: createRandom("") };
  const clock = { deadline: new Date(0), remainingMs: () => 1 };
  const action = await player.choose({ ...turn, clock, log: () => {} } as unknown as Turn);
  await player.end?.({} as never);
  return action;
}

test.each([
  ["./bot.ts", "module"],
  ["bot.mjs", "module"],
  ["bot.py", "program"],
  ["../bots/bot.go", "program"],
  ["bot.py#start_ms=700", "program"],
  ["bot.py #start_ms=0", "name"],
  ["bot.py#matches=one", "program"],
  ["bot.py#matches=one,start_ms=700", "program"],
  ["bot.py#matches=two", "name"],
  ["./bot", "program"],
  ["bot", "name"],
  ["greedy", "name"],
  ["uci:/usr/games/stockfish", "name"],
  ["lines:python3 ./bot.py", "name"],
  ["lines:node ./bot.js", "name"],
  ["llm:http://127.0.0.1:11434/v1#llama3.2", "name"],
])("%s is a %s", (spec, kind) => {
  expect(isModuleFile(spec)).toBe(kind === "module");
  expect(isProgramFile(spec)).toBe(kind === "program");
  expect(isBotFile(spec)).toBe(kind !== "name");
});

test("an executable file is a bot that exchanges lines, and runs in its folder", async () => {
  bot = await loadBot(write("bot", PROGRAM), systemClock, botHome());
  expect(bot.name).toBe(join(folder, "bot"));
  expect(await actionOf(bot)).toBe(folder);
});

test("a start time may follow the path of a file", async () => {
  const clock = manualClock();
  const warnings: string[] = [];
  const file = write("bot", `#!${process.execPath}\nsetInterval(() => {}, 1000);\n`);
  const loading = loadBot(`${file}#start_ms=700`, clock, botHome({ warn: (line) => void warnings.push(line) }));
  await clock.advance(700);
  bot = await loading;
  expect(bot.name).toBe(file);
  expect(warnings).toEqual([expect.stringContaining("has not shown within 700 ms")]);
});

test("a file that is not executable is a StartError", async () => {
  const loading = loadBot(write("bot.rb", PROGRAM, 0o644), systemClock, botHome());
  await expect(loading).rejects.toThrow("bot.rb is not executable: use chmod +x, or give its command as lines:COMMAND");
});

test("a folder and a missing file are StartErrors", async () => {
  const inFolder = `is a folder: name the file of the bot in it, e.g. ${join(folder, "bot.ts")}`;
  await expect(loadBot(`${folder}/`, systemClock, botHome())).rejects.toThrow(inFolder);
  await expect(loadBot(join(folder, "none.py"), systemClock, botHome())).rejects.toThrow("none.py: no such file");
});

/** Puts a compiler for Go first in the PATH. It is a shell script. */
const stubCompiler = (script: string): void => {
  write("go", `#!/bin/sh\n${script}\n`);
  vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
};

test("a source file of a compiled language is compiled once, and the program is removed with its player", async () => {
  stubCompiler(`echo "$@" >> calls.txt; cp program "$3"; chmod +x "$3"`);
  write("program", PROGRAM);
  write("bot.go", "");
  mkdirSync(join(folder, "tmp"));
  vi.stubEnv("TMPDIR", join(folder, "tmp"));
  bot = await loadBot(join(folder, "bot.go"), systemClock, botHome());
  expect([await actionOf(bot), await actionOf(bot)]).toEqual([folder, folder]);
  expect(readFileSync(join(folder, "calls.txt"), "utf8")).toMatch(/^build -o \S+ .*\/bot\.go\n$/);
  expect(readdirSync(tmpdir())).toHaveLength(1);
  await bot.close?.();
  expect(readdirSync(tmpdir())).toEqual([]);
});

test("a source file that does not compile is a StartError with the output of the compiler", async () => {
  stubCompiler('echo "./bot.go:3:1: syntax error" >&2; exit 1');
  const loading = loadBot(write("bot.go", "x"), systemClock, botHome());
  await expect(loading).rejects.toThrow(/bot\.go does not compile:\n\.\/bot\.go:3:1: syntax error$/);
});

test("a source file whose compiler is not installed is a StartError", async () => {
  vi.stubEnv("PATH", folder);
  await expect(loadBot(write("bot.go", "x"), systemClock, botHome())).rejects.toThrow(/bot\.go: go is not installed$/);
});
