import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { cleanUp, newFolder } from "../../testing/processes.ts";

afterEach(cleanUp); // a folder with hundreds of megabytes of packages

const ROOT = resolve(import.meta.dirname, "../../..");
const execute = promisify(execFile);
/** The compiler that the README of a new bot has its author install, in the version of this project. */
const TYPESCRIPT = `typescript@${JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).devDependencies.typescript}`;

/** Makes the package in a copy of this project, because `npm pack` replaces its package.json for a moment. Returns its path. */
async function pack(): Promise<string> {
  const copy = join(newFolder(), "agent-league");
  const left = new Set(["node_modules", ".git", "data", "dist"]);
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !left.has(relative(ROOT, path)) });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const before = readFileSync(join(copy, "package.json"), "utf8");
  const { stdout } = await execute("npm", ["pack"], { cwd: copy });
  expect(readFileSync(join(copy, "package.json"), "utf8")).toBe(before);
  return join(copy, stdout.trim().split("\n").at(-1) ?? "");
}

/** An empty project in which the package is installed. */
async function install(file: string) {
  const folder = newFolder();
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  for (const args of [[file], ["--save-dev", TYPESCRIPT]])
    await execute("npm", ["install", ...flags, ...args], { cwd: folder });
  /** The package `node` is the one with which the commands of the package run. */
  const [manager = 0] = await freePorts(20);
  const ports = {
    LEAGUE__MANAGER__PORT: String(manager),
    LEAGUE__REFEREES__FIRSTPORT: String(manager + 1),
    LEAGUE__PLAYERSFIRSTPORT: String(manager + 10),
  };
  const env = { ...process.env, ...ports, PATH: `${join(folder, "node_modules", ".bin")}:${process.env.PATH}` };
  const run = (command: string, ...args: string[]) => execute(command, args, { cwd: folder, env });
  return { folder, run, league: (...args: string[]) => run("npx", "league", ...args) };
}

const BOT = `import type { Bot } from "agent-league";
import { createRandom } from "agent-league/game";

const six: number = createRandom("seed").int(6, 6);
export default (({ legal, view }) => {
  const round: number = view.series?.round ?? six;
  return legal[round % legal.length] ?? "rock";
}) satisfies Bot<"rps.v1">;
// @ts-expect-error: not an action of the game
export const wrong = (() => "lizard") satisfies Bot<"rps.v1">;
`;

describe("npm pack", () => {
  it("makes a package that plays leagues, writes bots and types them in an empty project", async () => {
    const file = await pack();
    const { folder, run, league } = await install(file);
    const installed = join(folder, "node_modules", "agent-league");
    expect(existsSync(join(installed, "dist", "scripts", "league.js"))).toBe(true);
    expect(existsSync(join(installed, "shared"))).toBe(false);

    const written = await league("new-bot", "my-bot");
    expect(written.stdout).toContain("npx league play ./my-bot/bot.ts random --game rps");
    const played = await league("play", "./my-bot/bot.ts", "random", "--game", "rps", "--seed", "7");
    expect(played.stdout).toMatch(/^rps\.v1 \(best_of=9\)\nplayer_1: my-bot\nplayer_2: random\n/);

    expect((await league("play", "--help")).stdout).toContain("npx league play ./my-bot.ts random --game rps");

    const readme = readFileSync(join(folder, "my-bot", "README.md"), "utf8");
    expect(readme).toMatch(/`npm install --save-dev typescript`.*```\nnpx tsc -p \.\/my-bot\n```/s);
    await run("npx", "tsc", "-p", "./my-bot");
    writeFileSync(join(folder, "my-bot", "bot.ts"), BOT);
    await run("npx", "tsc", "-p", "./my-bot");
    const typed = await league("play", "./my-bot/bot.ts", "cycle", "--game", "rps");
    expect(typed.stdout).toContain("player_1: my-bot");

    const { stdout } = await league("run", "--json", "--quiet");
    const { leagues } = JSON.parse(stdout) as { leagues: { status: string }[] };
    expect(leagues.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
    // The data are in the project, and not in the package.
    expect(existsSync(join(folder, "data", "runs"))).toBe(true);
    expect(existsSync(join(installed, "dist", "data"))).toBe(false);
  });
});
