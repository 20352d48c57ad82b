import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { cleanUp, league, newFolder, root, start } from "../../testing/processes.ts";
import { documentOf, RPS, run, testLeague } from "../../testing/test-league.ts";

beforeAll(() => {
  requireProgram(["/usr/bin/python3"], "python3");
  requireProgram(["/usr/bin/go", "/usr/local/go/bin/go"], "golang-go");
});
afterEach(cleanUp);

/** Writes a new bot with `league new-bot`. */
async function newBot(lang: string, game = "rps") {
  const folder = join(newFolder(), "my-bot");
  const ended = await league(["new-bot", folder, "--game", game, "--lang", lang]);
  expect(ended, ended.stderr).toMatchObject({ code: 0, stderr: "" });
  return { folder, file: join(folder, `bot.${lang}`), stdout: ended.stdout };
}

describe.each(["ts", "js", "py", "go"])("the bot of new-bot --lang %s", (lang) => {
  it("plays the printed matches with legal moves, and repeats them with the same seed", async () => {
    const play = async (game: string, option: string): Promise<void> => {
      const { file, stdout } = await newBot(lang, game);
      const printed = `npm run league -- play ${file} random --game ${game}`;
      expect(stdout).toContain(printed);
      const args = [...printed.split(" ").slice(4), "--option", option, "--seed", "7", "--json"];
      const [first, second] = await Promise.all([league(args), league(args)]);
      expect(first.code, first.stderr).toBe(0);
      expect(JSON.parse(first.stdout)).toMatchObject({ termination: "normal", faults: [] });
      expect(second.stdout).toBe(first.stdout);
    };
    await Promise.all([play("rps", "best_of=5"), play("kuhn_poker", "hands=2")]);
  });
});

it("a bot in Python plays in the config of a league", async () => {
  const { file } = await newBot("py");
  const ended = await run(await testLeague([file, "cycle"], RPS), "--json", "--quiet").ended;
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
  expect(documentOf(ended).leagues[0]?.matches).toMatchObject([{ termination: "normal" }]);
});

it.each([
  ["py", "kuhn_poker"],
  ["js", "rps"],
])("the bot in %s joins a league of %s on this machine as its README says", async (lang, game) => {
  const { folder } = await newBot(lang, game);
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  const [, config] = /save this config as `kuhn_poker\.json` .*?```json\n(.*?)```/s.exec(readme) ?? [];
  if (config) writeFileSync(join(folder, "kuhn_poker.json"), config);
  const [, block = ""] = /three terminals:\n\n```\n(.*?)```/s.exec(readme) ?? [];
  const [serve = [], ...joins] = block
    .trim()
    .split("\n")
    .map((line) => line.split(" ").slice(4));
  const [port = 0] = await freePorts(10);
  const ports = { LEAGUE__MANAGER__PORT: String(port), LEAGUE__REFEREES__FIRSTPORT: String(port + 1) };
  const inFolder = (word: string): string => (/^kuhn_poker\.json$|^data\//.test(word) ? join(folder, word) : word);
  const serving = start("scripts/league.ts", serve.map(inFolder), ports);
  await serving.line(/REF01 registered/);
  const place = ["--manager", `http://127.0.0.1:${port}/mcp`, "--data", folder];
  const players = joins.map((args) => start("scripts/league.ts", [...args, ...place]));
  expect(players).toHaveLength(2);
  await Promise.all(
    players.map((player) => player.line(new RegExp(`^\\S+ ${game} is over: rank|^${game} is over: rank`))),
  );
  for (const { signal } of [...players, serving]) signal("SIGTERM");
});

it("tsc checks the types of the bot in TypeScript with its tsconfig.json", async () => {
  mkdirSync(join(root, "data"), { recursive: true });
  const parent = mkdtempSync(join(root, "data", "types-")); // the types of the package are found in this project only
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, "my-bot");
  expect(await league(["new-bot", folder])).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(join(folder, "README.md"), "utf8")).toContain(`\nnpx tsc -p ${folder}\n`);
  const check = () => spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
  expect(check()).toMatchObject({ status: 0, stdout: "" });
  const file = join(folder, "bot.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("random.pick(legal)", '"lizard"'));
  expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('"lizard"') });
});

/** The commands with which the README has a player join without this project. */
const STANDALONE = {
  py: { command: ["python3", "join.py"], build: null },
  go: { command: ["./bot"], build: ["go", "build", "-o", "bot"] },
} as const;

describe.each(["py", "go"] as const)("the player of new-bot --lang %s", (lang) => {
  it("joins a league by itself as its README says, plays it without a forfeit and keeps its id", async () => {
    const { folder } = await newBot(lang);
    const { command, build } = STANDALONE[lang];
    const readme = readFileSync(join(folder, "README.md"), "utf8");
    expect(readme).toContain(`\n${command.join(" ")} http://ADDRESS:8000/mcp my-bot 8150\n`);
    if (build) {
      expect(readme).toContain(`\n${build.join(" ")}\n`);
      const [compiler, ...args] = build;
      expect(await once(spawn(compiler, args, { cwd: folder, stdio: "inherit" }), "exit")).toEqual([0, null]);
    }
    const self = ["my-bot", "Late"].map((name) => ({ name, self: true }));
    const test = await testLeague([], RPS, { config: { players: self } });
    const running = run(test, "--json");
    await running.line(/^waiting for my-bot, Late to register/);
    const manager = `http://127.0.0.1:${test.port}/mcp`;
    const joinByItself = async (): Promise<ChildProcess> => {
      const [program = "", ...args] = [...command, manager, "my-bot", String(test.portAt(10))];
      const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
      const [line] = await once(createInterface({ input: child.stdout }), "line");
      expect(line).toBe("my-bot is registered as P01; Ctrl-C ends it");
      return child;
    };
    const first = await joinByItself();
    first.kill();
    await once(first, "exit");
    const second = await joinByItself();
    const late = start("scripts/league.ts", [
      "join",
      "random",
      "--name",
      "Late",
      "--manager",
      manager,
      "--data",
      folder,
    ]);
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(documentOf(ended).leagues[0]?.matches).toMatchObject([{ termination: "normal" }]);
    expect(statSync(join(folder, "my-bot.token")).mode & 0o777).toBe(0o600);
    second.kill();
    late.signal("SIGTERM");
  });
});

describe("league new-bot", () => {
  it("prints commands that a shell understands for a folder with spaces and other special characters", async () => {
    const folder = join(newFolder(), "Ann's $HOME bot");
    const { code, stdout } = await league(["new-bot", folder]);
    expect(code).toBe(0);
    const [, path] = /league -- play (.*) random --game rps/.exec(stdout) ?? [];
    expect(execFileSync("sh", ["-c", `printf %s ${path}`], { encoding: "utf8" })).toBe(join(folder, "bot.ts"));
    expect(stdout).toContain(" --name Ann-s--HOME-bot ");
    // The bot names its games, so it enters the league of its game, whatever the id of the league is.
    expect(stdout).not.toContain("--league");
    expect(readFileSync(join(folder, "README.md"), "utf8")).toContain(`play ${path} random`);
  });

  it("copies the files of the starter, and not the folder that Python adds when the starter runs where it is", async () => {
    execFileSync("/usr/bin/python3", ["-m", "compileall", "-q", join(root, "scripts/starters/py")]);
    const { folder } = await newBot("py");
    expect(readdirSync(folder).sort()).toEqual(["README.md", "bot.py", "join.py", "turn.jsonl"]);
  });

  it("does not write into an existing folder", async () => {
    const folder = newFolder();
    const { code, stdout, stderr } = await league(["new-bot", folder]);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: "",
      stderr: `${folder} exists already; choose another name\n`,
    });
  });
});
