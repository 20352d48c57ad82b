import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import type { GameResult, MatchInfo, Turn } from "../sdk.ts";
import { linesBot, linesSpec } from "./lines.ts";
import { START_MS } from "./program-start.ts";

let folder = "";
let bot: LoadedBot | undefined;
let shown: string[] = [];
let failures: string[] = [];
const fail = (error: Error): void => void failures.push(error.message);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lines-"));
  shown = [];
  failures = [];
});
afterEach(async () => {
  await bot?.close?.();
  rmSync(folder, { recursive: true, force: true });
});

const INFO: MatchInfo = {
  leagueId: "rps",
  matchId: "R1M1",
  epoch: 1,
  game: "rps.v1",
  options: { best_of: 3 },
  role: "player_1",
  roles: { player_1: "P01", player_2: "P02" },
  seedCommitment: "",
};
const RESULT = { league_id: "rps", match_id: "R1M1", winner: "P01" } as unknown as GameResult;

/** Loads a program that calls `answer(message)` for each line that it reads. */
async function load(answer: string, clock = systemClock): Promise<LoadedBot> {
  const source = `
import { createInterface } from "node:readline";
import { appendFileSync } from "node:fs";
const say = (value) => console.log(typeof value === "string" ? value : JSON.stringify(value));
createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync("lines.txt", line + "\\n");
  const message = JSON.parse(line);
  ${answer}
});`;
  writeFileSync(join(folder, "bot.mjs"), source);
  const loading = linesBot(linesSpec([process.execPath, "bot.mjs"], folder), clock, fail);
  if (clock !== systemClock) await (clock as ReturnType<typeof manualClock>).advance(START_MS);
  bot = await loading;
  return bot;
}

function begin(loaded: LoadedBot): MatchBot {
  const player = loaded.create((line) => void shown.push(line));
  void player.start?.(INFO);
  return player;
}

/** Only the second turn has clocks. */
const clocks = { initialMs: 60_000, incrementMs: 0, remainingMs: { player_1: 59_000, player_2: 60_000 } };

const turn = (tick: number, signal = new AbortController().signal): Turn =>
  ({
    ...{ game: "rps.v1", role: "player_1", view: { round: tick + 1 }, legal: ["rock", "paper"], tick, signal },
    ...{ history: [], random: createRandom(`test/${tick}`) },
    clock: { deadline: new Date(0), remainingMs: () => 30_000, match: tick === 1 ? clocks : null },
    log: (line: string) => void shown.push(line),
  }) as unknown as Turn;

const received = (): Record<string, unknown>[] =>
  readFileSync(join(folder, "lines.txt"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("a program that plays by lines", () => {
  test("receives the match, each turn and the result, and its answers are the actions", async () => {
    const player = begin(await load('if (message.type === "turn") say({ action: message.legal[message.tick] });'));
    expect([await player.choose(turn(0)), await player.choose(turn(1))]).toEqual(["rock", "paper"]);
    await player.end?.(RESULT);
    await vi.waitFor(() => expect(received()).toHaveLength(4), 10_000);
    const match = { league_id: "rps", match_id: "R1M1", epoch: 1, game: "rps.v1", options: { best_of: 3 } };
    const { role, roles } = INFO;
    const time = { deadline: "1970-01-01T00:00:00.000Z", remaining_ms: 30_000 };
    const clock = { initial_ms: 60_000, increment_ms: 0, remaining_ms: { player_1: 59_000, player_2: 60_000 } };
    const question = { type: "turn", legal: ["rock", "paper"], ...time };
    const [, first, second] = received();
    expect(received()).toEqual([
      { type: "start", ...match, role, roles },
      { ...question, tick: 0, view: { round: 1 }, seed: expect.any(Number) },
      { ...question, tick: 1, view: { round: 2 }, seed: expect.any(Number), clock },
      { type: "end", result: RESULT },
    ]);
    expect(first?.seed).not.toBe(second?.seed);
  });

  test("has a separate process for each match", async () => {
    const loaded = await load('if (message.type === "turn") say({ action: process.pid });');
    const [one, two] = [begin(loaded), begin(loaded)];
    const pids = [await one.choose(turn(0)), await two.choose(turn(0)), await one.choose(turn(1))];
    expect(pids[0]).toBe(pids[2]);
    expect(pids[0]).not.toBe(pids[1]);
  });

  test("is started again for the next turn when its process has ended", async () => {
    const crash =
      'if (message.tick === 0) { console.error("no luck"); process.exitCode = 3; process.stdin.destroy(); }';
    const clock = manualClock();
    const player = begin(await load(`${crash} if (message.tick === 1) say({ action: "paper" });`, clock));
    const failed = expect(player.choose(turn(0))).rejects.toThrow("the program ended with code 3");
    // The player waits whether the program also ends with an error without input.
    await vi.waitFor(() => expect(clock.timers()).toBe(1));
    await clock.advance(5_000);
    await failed;
    expect(failures).toEqual([]);
    expect(shown).toEqual(["rps R1M1: no luck"]);
    expect(await player.choose(turn(1))).toBe("paper");
    expect(received().map(({ type }) => type)).toEqual(["start", "turn", "start", "turn"]);
  });

  test.each([
    ["text", 'say("rock")', ["rps R1M1: stdout: rock"]],
    ["JSON without an action", 'say({ move: "rock" })', ['rps R1M1: stdout: {"move":"rock"}']],
    ["an overlong line", 'say("x".repeat(1_000_001))', ["rps R1M1: stdout: a line of more than 1000000 bytes"]],
  ])("chooses no action with %s, which is shown", async (_what, answer, lines) => {
    const player = begin(await load(`if (message.type === "turn") ${answer};`));
    await expect(player.choose(turn(0))).rejects.toThrow('the program wrote a line that is not {"action": …}');
    expect(shown).toEqual(lines);
  });

  test("is started again after an invalid line, so that a late answer does not count for the next turn", async () => {
    const late = 'say("debug"); setTimeout(() => say({ action: "late" }), 50);';
    const player = begin(
      await load(
        `if (message.tick === 0) { ${late} } if (message.tick === 1) setTimeout(() => say({ action: "paper" }), 300);`,
      ),
    );
    await expect(player.choose(turn(0))).rejects.toThrow("the program wrote a line that is not");
    expect(await player.choose(turn(1))).toBe("paper");
  });

  test.each([
    ["a second answer", '{"action":"rock"}'],
    ["a line that is no answer", "debug"],
  ])("plays on after %s in a turn that it has answered: the line is shown and ignored", async (_what, line) => {
    const twice = `process.stdout.write('{"action":"paper"}\\n${line}\\n');`;
    const player = begin(
      await load(`if (message.tick === 0) { ${twice} } if (message.tick === 1) say({ action: process.pid });`),
    );
    expect(await player.choose(turn(0))).toBe("paper");
    expect(shown).toEqual([`rps R1M1: stdout: ${line}`]);
    await player.choose(turn(1));
    expect(received().map(({ type }) => type)).toEqual(["start", "turn", "turn"]);
  });

  test("plays on after a line on stdout before its first turn, which is shown", async () => {
    const player = begin(await load('if (message.type === "start") say("ready"); else say({ action: "paper" });'));
    await vi.waitFor(() => expect(shown).toEqual(["rps R1M1: stdout: ready"]), 10_000);
    expect(await player.choose(turn(0))).toBe("paper");
  });

  test("has its lines on stderr shown with the match, also those before the first turn", async () => {
    const player = begin(await load('console.error(message.type); if (message.type === "turn") say({ action: 1 });'));
    expect(await player.choose(turn(0))).toBe(1);
    await vi.waitFor(() => expect(shown).toEqual(["rps R1M1: start", "rps R1M1: turn"]), 10_000);
  });

  test("is terminated when its turn ends, and does not answer a later turn with an old action", async () => {
    const player = begin(await load("if (message.tick > 0) say({ action: message.tick });"));
    const over = new AbortController();
    const open = player.choose(turn(0, over.signal));
    over.abort();
    await expect(open).rejects.toThrow("the turn ended without an answer");
    expect(await player.choose(turn(1))).toBe(1);
  });

  test("is terminated two seconds after the result if it does not end", async () => {
    const clock = manualClock();
    const ignores = 'setInterval(() => {}, 1000); if (message.type === "turn") say({ action: process.pid });';
    const player = begin(await load(ignores, clock));
    const pid = (await player.choose(turn(0))) as number;
    await player.end?.(RESULT);
    await vi.waitFor(() => expect(received()).toHaveLength(3), 10_000);
    expect(isRunning(pid)).toBe(true);
    await clock.advance(2_000);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 10_000);
  });

  test("is terminated two seconds after the result if the player closes in the meantime", async () => {
    const clock = manualClock();
    const ignores = 'setInterval(() => {}, 1000); if (message.type === "turn") say({ action: process.pid });';
    const loaded = await load(ignores, clock);
    const player = begin(loaded);
    const pid = (await player.choose(turn(0))) as number;
    await player.end?.(RESULT);
    const closing = loaded.close?.();
    await clock.advance(1_999);
    expect(isRunning(pid)).toBe(true);
    await clock.advance(1);
    await closing;
    expect(isRunning(pid)).toBe(false);
  });

  test("is terminated when its match is dropped, and when the player closes", async () => {
    const loaded = await load('if (message.type === "turn") say({ action: process.pid });');
    const dropped = begin(loaded);
    const first = (await dropped.choose(turn(0))) as number;
    const second = (await begin(loaded).choose(turn(0))) as number;
    dropped.close?.();
    await vi.waitFor(() => expect(isRunning(first)).toBe(false), 10_000);
    await loaded.close?.();
    await vi.waitFor(() => expect(isRunning(second)).toBe(false), 10_000);
  });
});

describe("lines:COMMAND", () => {
  test("is a command for the shell, which runs in the present folder", async () => {
    const file = join(folder, "bot.mjs");
    writeFileSync(file, 'process.stdin.on("data", () => console.log(JSON.stringify({ action: process.cwd() })));');
    bot = await linesBot(`lines:"${process.execPath}" "${file}"`, systemClock, fail);
    expect(await begin(bot).choose(turn(0))).toBe(process.cwd());
  });

  test("that is not installed is a StartError", async () => {
    await expect(linesBot("lines:no-such-program", patient(), fail)).rejects.toThrow(
      /^no-such-program ended with code 127 when it was started\n.*no-such-program.*not found/,
    );
  });

  test("that ends with an error when it is started is a StartError with its output", async () => {
    const spec = linesSpec([process.execPath, "none.mjs"], folder);
    const start = linesBot(spec, patient(), fail);
    await expect(start).rejects.toMatchObject({ exitCode: EXIT.config });
    await expect(start).rejects.toThrow(
      /^\S*node none\.mjs ended with code 1 when it was started\n(.*\n)*Error: Cannot find module '.*none\.mjs'/,
    );
  });

  test("that ends with an error after the time of its start, and also without input, is a failure with its output", async () => {
    const clock = manualClock();
    const source = 'process.once("SIGUSR2", () => { throw new Error("too late"); }); setInterval(() => {}, 1_000);';
    const flag = join(folder, "started");
    const first = `import { existsSync, writeFileSync } from "node:fs"; if (existsSync("started")) throw new Error("again"); ${source} writeFileSync("started", String(process.pid));`;
    writeFileSync(join(folder, "late.mjs"), first);
    const failed = Promise.withResolvers<Error>();
    const loading = linesBot(linesSpec([process.execPath, "late.mjs"], folder), clock, failed.resolve);
    await vi.waitFor(() => expect(readFileSync(flag, "utf8")).toMatch(/^\d+$/), 10_000);
    await clock.advance(START_MS);
    bot = await loading;
    const player = begin(bot);
    let hasAnswered = false;
    const answered = (): void => {
      hasAnswered = true;
    };
    void Promise.resolve(player.choose(turn(0))).then(answered, answered);
    process.kill(Number(readFileSync(flag, "utf8")), "SIGUSR2");
    const error = await failed.promise;
    expect(error).toMatchObject({ exitCode: EXIT.config });
    expect(error.message).toMatch(/^\S*node late\.mjs ended with code 1 when it was started\n(.*\n)*Error: again/);
    expect(hasAnswered).toBe(false);
  });

  test("that ends without an error when it is started is a bot", async () => {
    bot = await linesBot("lines:true", patient(), fail);
    await expect(begin(bot).choose(turn(0))).rejects.toThrow("the program ended with code 0");
  });

  test("whose first process ended before the first match is started again for it", async () => {
    const flag = join(folder, "started");
    const first = `if [ ! -e "${flag}" ]; then echo $$ > "${flag}"; exit 0; fi; read start; read turn; echo '{"action": "again"}'`;
    bot = await linesBot(`lines:sh -c '${first.replaceAll("'", "'\\''")}'`, systemClock, fail);
    await vi.waitFor(() => expect(readFileSync(flag, "utf8")).toMatch(/^\d+\n$/), 10_000);
    const pid = Number(readFileSync(flag, "utf8"));
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 10_000);
    expect(await begin(bot).choose(turn(0))).toBe("again");
  });

  test("without a command is a StartError", async () => {
    await expect(linesBot("lines: ", systemClock, fail)).rejects.toThrow(
      "lines: names no command, e.g. lines:python3 bot.py",
    );
  });

  test("of a config that does not start is a StartError", async () => {
    const spec = linesSpec(["no-such-program"], folder);
    await expect(linesBot(spec, systemClock, fail)).rejects.toThrow(
      "no-such-program does not start: spawn no-such-program",
    );
    expect(existsSync(join(folder, "lines.txt"))).toBe(false);
  });
});

/** A clock that never ends the time of a start, so that the test does not depend on the speed of the machine. */
const patient = () => manualClock();

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
