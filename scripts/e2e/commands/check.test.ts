import { spawn } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { gameIds } from "#shared/games/registry.ts";
import { isLongRun } from "#shared/lib/testing/long-run.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { tool } from "../../../referee/play/testing/play.ts";
import { cleanUp, league, newFolder, root, start } from "../../testing/processes.ts";

afterEach(cleanUp);

interface Document {
  readonly endpoint: string;
  readonly passed: boolean;
  readonly checks: readonly { readonly number: number; readonly outcome: string }[];
}

/** The outcome of each check, by its number. */
const outcomes = (stdout: string): Record<number, string> =>
  Object.fromEntries((JSON.parse(stdout) as Document).checks.map(({ number, outcome }) => [number, outcome]));
const ALL_PASS = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [index + 1, "pass"]));
const python = (): string => requireProgram(["/usr/bin/python3"], "python3");

/** Starts `league check --listen`. Resolves when it waits for a player. */
async function listening() {
  const port = await freePort();
  const check = start("scripts/league.ts", ["check", "--listen", "--port", String(port), "--json"]);
  await check.line(/Start your player now/);
  return { manager: `http://127.0.0.1:${port}/mcp`, ended: check.ended };
}

/** The program in docs/network-players.md that polls its inbox. */
function pollingProgram(): string {
  const text = readFileSync(join(root, "docs/network-players.md"), "utf8");
  const blocks = [...text.matchAll(/```python\n(.*?)```/gs)].map(([, program = ""]) => program);
  const found = blocks.find((program) => program.includes("?after="));
  if (!found) throw new Error("docs/network-players.md has no program that polls an inbox");
  return found;
}

const REGISTRATION = newEnvelope("PLAYER_REGISTER_REQUEST", "player:Ann", {
  display_name: "Ann",
  version: "1",
  game_types: ["rps"],
  contact_endpoint: null,
});

describe("league check", () => {
  it.each(["random", `${root}/scripts/starters/py/bot.py`, ...(isLongRun ? ["greedy", "counter", "cycle"] : [])])(
    "passes the bot %s in every check",
    async (bot) => {
      const { code, stdout, stderr } = await league(["check", bot, "--json"]);
      expect({ code, stderr, outcomes: outcomes(stdout) }).toEqual({ code: 0, stderr: "", outcomes: ALL_PASS });
      expect(stdout).toContain(`${gameIds.length} game types and every other game, with a token`);
    },
  );

  it.each([
    ["Python", "scripts/starters/py/join.py"],
    ["TypeScript", "scripts/examples/hand-written-player.ts"],
  ])(
    "passes the example player in %s that registers by itself, with a warning about signatures",
    async (language, file) => {
      const [port, playerPort] = [await freePort(), await freePort()];
      const check = start("scripts/league.ts", ["check", "--listen", "--port", String(port), "--json"]);
      await check.line(/Start your player now/);
      const program = language === "Python" ? python() : process.execPath;
      const args = [join(root, file), `http://127.0.0.1:${port}/mcp`, "Ann", String(playerPort)];
      const player = spawn(program, args, { cwd: newFolder(), stdio: "ignore" });
      onTestFinished(() => void player.kill());
      const { code, stdout } = await check.ended;
      expect({ code, outcomes: outcomes(stdout) }).toEqual({ code: 0, outcomes: { ...ALL_PASS, 12: "warn" } });
    },
  );

  it("passes a player that polls an inbox, and names the checks that the manager makes for it", async () => {
    const check = await listening();
    const args = ["random", "--pull", "--name", "Ann", "--manager", check.manager, "--data", newFolder()];
    start("scripts/league.ts", ["join", ...args]);
    const { code, stdout, stderr } = await check.ended;
    expect({ code, outcomes: outcomes(stdout) }, stderr).toEqual({ code: 0, outcomes: ALL_PASS });
    expect(stdout).toContain("polls its inbox and answers in");
    expect(stdout).toContain("the manager checks the signatures of messages to an inbox");
  });

  it("passes the Python program of the documents that polls its inbox", async () => {
    const check = await listening();
    const file = join(newFolder(), "inbox.py");
    writeFileSync(file, pollingProgram());
    const player = spawn(python(), [file, check.manager, "Ann"], { stdio: "ignore" });
    onTestFinished(() => void player.kill());
    const { code, stdout } = await check.ended;
    // The program moves at random, so that its answers to a repeated request are alike by chance only.
    const repeated = expect.stringMatching(/^(pass|warn)$/);
    expect({ code, outcomes: outcomes(stdout) }).toEqual({ code: 0, outcomes: { ...ALL_PASS, 8: repeated } });
  });

  it("diagnoses a player that registers without an endpoint and does not poll its inbox", async () => {
    const check = await listening();
    const registered = await tool({ url: check.manager.replace("/mcp", "") }, "league_message", REGISTRATION);
    expect(registered.text).toContain(`${check.manager.replace("/mcp", "")}/inbox/P01`);
    const { code, stdout } = await check.ended;
    expect({ code, outcomes: outcomes(stdout) }).toMatchObject({ code: 1, outcomes: { 1: "pass", 2: "fail" } });
    expect(stdout).toContain("Poll the inbox in a loop");
  });

  it.each([
    ["handle_message", "classroom:handle_message:message"],
    ["tool_calls", "classroom:tools_call:arguments"],
    ["later_answers", "classroom:protocol_message:params"],
    ["league_v1", "league.v1:tools_call:arguments"],
  ])("passes the program %s of another dialect, at its registration and at its URL", async (file, dialect) => {
    const check = await listening();
    const port = String(await freePort());
    const path = join(root, `scripts/e2e/dialects/programs/${file}.py`);
    const player = spawn(python(), [path, "Ann", port, check.manager], { stdio: "ignore" });
    onTestFinished(() => void player.kill());
    const registered = await check.ended;
    expect(JSON.parse(registered.stdout)).toMatchObject({ dialect, passed: true });
    expect(outcomes(registered.stdout)).toMatchObject(file === "league_v1" ? { 7: "pass" } : {});
    // Each request to this program is waited for, because its answers do not come in its replies.
    const only = file === "later_answers" && !isLongRun ? ["--only", "6"] : [];
    const atUrl = await league(["check", `http://127.0.0.1:${port}`, "--game", "even_odd", "--json", ...only]);
    const [family] = dialect.split(":");
    expect(JSON.parse(atUrl.stdout)).toMatchObject({ dialect: expect.stringMatching(`^${family}:`), passed: true });
  });

  it("diagnoses a player that answers only one connection at a time", async () => {
    const [port, playerPort] = [await freePort(), await freePort()];
    const check = start("scripts/league.ts", ["check", "--listen", "--port", String(port)]);
    await check.line(/Start your player now/);
    const folder = newFolder();
    const file = join(folder, "join.py");
    const starter = join(root, "scripts/starters/py");
    copyFileSync(join(starter, "bot.py"), join(folder, "bot.py"));
    writeFileSync(file, readFileSync(join(starter, "join.py"), "utf8").replaceAll("ThreadingHTTPServer", "HTTPServer"));
    const args = [file, `http://127.0.0.1:${port}/mcp`, "Ann", String(playerPort)];
    const player = spawn(python(), args, { cwd: newFolder(), stdio: "ignore" });
    onTestFinished(() => void player.kill());
    const { code, stdout } = await check.ended;
    expect(code).toBe(1);
    expect(stdout).toContain("FAIL Reachable");
    expect(stdout).toContain("ThreadingHTTPServer instead of HTTPServer");
  });

  it("rejects the address of a player without http:// with exit code 2 and the address that it means", async () => {
    const { code, stderr } = await league(["check", "127.0.0.1:8150"]);
    expect(code).toBe(2);
    expect(stderr).toContain("127.0.0.1:8150: an address begins with http://. Did you mean http://127.0.0.1:8150?");
  });

  it("checks a running player at its URL, and declined games are no fault", async () => {
    const port = await freePort();
    const secret = join(newFolder(), "secret");
    const bot = join(newFolder(), "bot.ts");
    writeFileSync(bot, "export default ({ legal }) => legal[0];\n");
    const args = ["--bot", bot, "--no-manager", "--secret-file", secret, "--port", String(port), "--data", newFolder()];
    await start("player/main.ts", args).line(/plays at/);
    const url = `http://127.0.0.1:${port}`;
    const { code, stdout } = await league(["check", url, "--token-file", secret, "--game", "rps", "--json"]);
    expect({ code, outcomes: outcomes(stdout) }).toEqual({ code: 0, outcomes: ALL_PASS });
    const unsigned = await league(["check", url, "--game", "rps"]);
    expect(unsigned.code).toBe(1);
    expect(unsigned.stdout).toContain("use --token-file");
    expect(unsigned.stdout).toContain("skip Legal moves over whole matches: because of check 4");
  });

  it("prints the error of a bot with file and line, the exchange and the advice, and exits with 1", async () => {
    const bot = join(newFolder(), "bot.ts");
    writeFileSync(bot, "export default () => {\n  throw new Error('too hard');\n};\n");
    const { code, stdout } = await league(["check", bot, "--game", "rps"]);
    expect(code).toBe(1);
    expect(stdout).toContain("FAIL Legal moves over whole matches");
    expect(stdout).toContain(`the player has printed: ${bot}:2:9: Error: too hard`);
    expect(stdout).toContain('"type":"MOVE_REQUEST"');
    expect(stdout).toContain("To fix it: Correct the error in your bot");
  });

  it("diagnoses a bot that fails in the second round of a match, with the options of the match", async () => {
    const bot = join(newFolder(), "bot.py");
    const starter = readFileSync(join(root, "scripts/starters/py/bot.py"), "utf8");
    const faulty =
      "return legal[view['series']['previous_round'] if view.get('series', {}).get('previous_rounds') else 0]";
    writeFileSync(bot, starter.replace("return random.choice(legal)", faulty));
    const { code, stdout } = await league(["check", bot, "--only", "6"]);
    expect(code).toBe(1);
    expect(stdout).toContain("rps.v1 with best_of=3 as player_1, tick 2: ");
    expect(stdout).toContain("KeyError: 'previous_round'");
    // A match of one round does not show the fault.
    const single = await league(["check", bot, "--only", "6", "--game", "rps", "--option", "best_of=1"]);
    expect(single.code).toBe(0);
    expect(single.stdout).toContain("options: rps.v1 best_of=1");
  });

  describe("of a program that plays many matches in one process", () => {
    /** Writes the starter in Python with other statements in `choose`, and a list that all matches share. */
    function botThat(choose: string): string {
      const bot = join(newFolder(), "bot.py");
      const starter = readFileSync(join(root, "scripts/starters/py/bot.py"), "utf8");
      const faulty = starter.replace("return random.choice(legal)", choose).replace("GAMES =", "turns = []\nGAMES =");
      writeFileSync(bot, faulty);
      return bot;
    }

    it("warns of state that is left over from the match before, with the two answers", async () => {
      const bot = botThat("turns.append(role)\n    return legal[min(1, len(turns) // 2)]");
      const { code, stdout } = await league(["check", bot, "--game", "rps", "--only", "13"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /13 {2}WARN .*\n +state is left over from the match before: rps\.v1 as player_1, turn 1 .* answered with "\w+" in the first match, and with "\w+" after other matches/,
      );
      expect(stdout).toContain("To fix it: Reset what belongs to one match when a match starts");
      const single = await league(["check", `${bot}#matches=one`, "--game", "rps", "--only", "13"]);
      expect(single.stdout).toMatch(/13 {2}pass /);
    });

    it("does not warn of a bot that has played the first two matches alike by chance", async () => {
      // Each turn adds a character to a file that all processes share: the first two turns are answered alike, and all others otherwise.
      const count = 'open("count", "a").write(".")\n    turns[:] = open("count").read()';
      const bot = botThat(`${count}\n    return legal[0 if len(turns) <= 2 else 1]`);
      const { stdout } = await league(["check", bot, "--game", "rps", "--option", "best_of=1", "--only", "13"]);
      expect(readFileSync(join(dirname(bot), "count"), "utf8").length).toBeGreaterThan(2);
      expect(stdout).toMatch(/13 {2}pass .*moves that the seed does not repeat: rps\.v1/);
    });

    it("fails for a fault that occurs only after other matches", async () => {
      const rounds = 'turns.append(len(view["series"]["previous_rounds"]))';
      const bot = botThat(`${rounds}\n    return legal[max(0, turns.count(1) - 1) * 3]`);
      const { code, stdout } = await league(["check", bot, "--game", "rps", "--option", "best_of=3", "--only", "13"]);
      expect(code).toBe(1);
      expect(stdout).toMatch(
        /13 {2}FAIL .*\n +only after other matches: rps\.v1 with best_of=3 as player_1, tick \d+: /,
      );
      expect(stdout).toContain("IndexError");
    });
  });

  it("names the time limit as the fault of a bot that does not return", async () => {
    const bot = join(newFolder(), "bot.ts");
    writeFileSync(bot, "export default ({ legal }) => {\n  while (legal.length > 0);\n};\n");
    const { code, stdout } = await league(["check", bot, "--game", "rps", "--move-ms", "500"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/tick 0: the bot took longer than (500|4\d\d) ms/);
    expect(stdout).toContain("To fix it: Return a move before the deadline of the turn");
    expect(stdout).not.toContain("POST immediately");
  });

  it.each([
    [[], 2, "give a bot or the URL of a player"],
    [["random", "--listen"], 2, "give a bot or the URL of a player"],
    [["manual"], 2, "does not support manual players"],
    [["random", "--game", "ludo"], 2, "unknown game ludo"],
    [["random", "--option", "best_of=5"], 2, "--option needs one game: --game rps"],
    [["random", "--game", "rps", "--option", "best_of=100"], 2, "--option best_of"],
    [["random", "--only", "14"], 2, "unknown check 14; choose one of 1 registration, "],
    [["./no-such-bot.ts"], 3, "./no-such-bot.ts: no such file"],
  ])("with the arguments %j exits with %i", async (args, exitCode, message) => {
    const { code, stdout, stderr } = await league(["check", ...args]);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
    expect(stderr).toContain(message);
  });
});
