import { describe, expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import { Player } from "../matches/player.ts";
import type { Turn } from "../sdk.ts";
import { botHome } from "../testing/home.ts";
import { isolatedBots } from "../testing/isolated-bots.ts";
import { invitation, moveRequest } from "../testing/messages.ts";
import { playerTurn } from "../testing/turns.ts";
import { isolatedBot } from "./isolated-bot.ts";

const { shown, warned, write, load, begin, beginWith } = isolatedBots();

const ADVICE = "Look for a loop or an await that does not end at its top level";
const SHORT = { limitMs: 100 };

describe("a file that does not finish loading", () => {
  test.each([
    ["because of a loop", "while (true);"],
    ["because of an await", "setInterval(() => {}, 1_000); await new Promise(() => {});"],
  ])("is named after 5 s, and does not load after 30 s (%s)", async (_, source) => {
    const clock = manualClock();
    const lines: string[] = [];
    const home = botHome({ warn: (line) => void lines.push(line) });
    const loading = isolatedBot(write("bot.ts", source), "bot.ts", clock, home);
    const ended = expect(loading).rejects.toMatchObject({
      message: `bot.ts does not load: it did not finish within 30 s. ${ADVICE}`,
      exitCode: 3,
    });
    await vi.waitFor(() => expect(clock.timers()).toBeGreaterThan(0), WAIT_OPTIONS);
    await clock.advance(5_000);
    expect(lines).toEqual([`bot.ts does not finish loading. ${ADVICE}`]);
    await clock.advance(25_000);
    await ended;
  });
});

describe("a turn", () => {
  test("has the view, the legal actions, the history, the clock and the same random numbers as in the player", async () => {
    const match = await beginWith(`
      const { role, view, legal, tick, history, rejection, clock, random } = turn;
      turn.log("thinking");
      return { role, view, legal, tick, history, rejection, left: clock.remainingMs() > 29_000, at: clock.deadline, clocks: clock.match, n: [random.int(1, 1e9), random.int(1, 1e9)] };
    `);
    const history = [{ tick: 0, view: { round: 1 }, action: "rock" }] as unknown as Turn["history"];
    const clock = { initial_ms: 60_000, increment_ms: 500, remaining_ms: { player_1: 59_000, player_2: 60_500 } };
    const turn = playerTurn(1, { history, clock });
    const { role, view, legal, tick, rejection } = turn;
    const clocks = { initialMs: 60_000, incrementMs: 500, remainingMs: { player_1: 59_000, player_2: 60_500 } };
    const given = {
      role,
      view,
      legal,
      tick,
      history,
      rejection,
      left: true,
      at: turn.clock.deadline.toISOString(),
      clocks,
    };
    const n = [turn.random.int(1, 1e9), turn.random.int(1, 1e9)];
    expect(await match.choose(playerTurn(1, { history, clock }))).toMatchObject({
      ...given,
      at: expect.any(String),
      n,
    });
    expect(shown).toEqual(["thinking"]);
  });

  test("writes all arguments of log as one line", async () => {
    const match = await beginWith(`
      turn.log("best", 3, { move: { from: [1, 2] } }, undefined, null);
      turn.log({ text: "100%s" });
      turn.log("50%d", 1);
      return 1;
    `);
    await match.choose(playerTurn(0));
    expect(shown).toEqual(["best 3 { move: { from: [ 1, 2 ] } } undefined null", "{ text: '100%s' }", "50%d 1"]);
  });

  test("has the whole history in each turn, also after a new process", async () => {
    const match = await beginWith(
      'if (turn.tick === 2) process.exit(3); return turn.history.map((one: any) => one.action).join("");',
    );
    const history = ["a", "b", "c"].map((action, tick) => ({ tick, view: {}, action })) as unknown as Turn["history"];
    const turnAt = (tick: number): Turn => playerTurn(tick, { history: history.slice(0, tick) });
    expect(await match.choose(turnAt(0))).toBe("");
    expect(await match.choose(turnAt(1))).toBe("a");
    await expect(match.choose(turnAt(2))).rejects.toThrow("the bot's process ended with code 3");
    expect(await match.choose(turnAt(3))).toBe("abc");
  });

  test("is aborted when its time is over", async () => {
    const match = await beginWith(`
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      turn.log(turn.signal.reason.name);
      return new Promise(() => {});
    `);
    await expect(match.choose(playerTurn(0, SHORT))).rejects.toThrow("the bot did not answer in time");
    await vi.waitFor(() => expect(shown).toContain("AbortError"), WAIT_OPTIONS);
  });

  test("assigns lines of stdout and stderr to the match, and lines outside of a match to the player", async () => {
    const file = write(
      "bot.ts",
      'console.log("loading"); export default (_: unknown) => { console.log("out"); console.error("err"); };',
    );
    const match = await begin(await load(file));
    await match.choose(playerTurn(0));
    await vi.waitFor(() => expect([...shown].sort()).toEqual(["err", "out"]), WAIT_OPTIONS);
    expect(warned).toEqual(["loading"]);
  });
});

describe("the turn fails, and the next turn is played in a new process, if the bot", () => {
  test.each([
    ["loops forever", "while (true);", "the bot blocked its process for longer than its time limit"],
    ["ends its process", "process.exit(0);", "the bot's process ended with code 0"],
    [
      "throws in a timer",
      "setTimeout(() => { throw new Error(); }); await new Promise(() => {});",
      "ended with code 1",
    ],
    [
      "fills the memory with objects",
      "const all = []; while (true) all.push(new Array(1e6).fill(1.5));",
      "the bot used more than 300 MB of memory; --allow-memory MB allows more",
    ],
    [
      "fills the memory with buffers",
      "const all = []; while (true) all.push(Buffer.alloc(1e7, 1));",
      "the bot used more than 300 MB of memory; --allow-memory MB allows more",
    ],
  ])("%s", async (fault, statements, reason) => {
    const limitMs = fault === "loops forever" ? 100 : 30_000;
    const match = await beginWith(`if (turn.tick === 1) { ${statements} } return turn.tick;`, { memory_mb: 300 });
    expect(await match.choose(playerTurn(0))).toBe(0);
    await expect(match.choose(playerTurn(1, { limitMs }))).rejects.toThrow(reason);
    expect(await match.choose(playerTurn(2))).toBe(2);
    expect(shown).toContainEqual(expect.stringContaining(reason));
    if (fault.includes("memory")) expect(shown).toHaveLength(1);
  });

  test("blocks its process: a turn that is requested before the process has ended is played in the new process", async () => {
    const match = await beginWith(`
      if (turn.tick === 0) turn.log("blocks");
      while (turn.tick === 0);
      return turn.tick;
    `);
    const blocked = match.choose(playerTurn(0, SHORT));
    await vi.waitFor(() => expect(shown).toEqual(["blocks"]), WAIT_OPTIONS);
    const next = match.choose(playerTurn(1));
    await expect(blocked).rejects.toThrow("blocked");
    expect(await next).toBe(1);
  });
});

test.each([
  ["loops forever", "while (true);"],
  ["ends its process", "process.exit(0);"],
])("a bot without parameters that %s loads, and loses its turns only", async (_, statements) => {
  const bot = await load(write("bot.ts", `export default () => { ${statements} };`));
  const match = await begin(bot);
  await expect(match.choose(playerTurn(0, SHORT))).rejects.toThrow(/blocked its process|ended with code 0/);
});

test("a bot shows all lines that it has written before it is closed", async () => {
  const source = `export default (turn: any) => { for (let n = 1; n <= 5_000; n++) console.log("line " + n); return 1; };`;
  const bot = await load(write("bot.ts", source));
  const match = await begin(bot);
  await match.choose(playerTurn(0));
  await bot.close?.();
  expect(shown.at(-1)).toBe("line 5000");
});

test("the end of a process is shown once, also if the match ends while the process is blocked", async () => {
  const match = await beginWith('turn.log("blocks"); while (true);');
  const blocked = match.choose(playerTurn(0, SHORT));
  await vi.waitFor(() => expect(shown).toEqual(["blocks"]), WAIT_OPTIONS);
  const ended = match.end?.({} as GameResult);
  await expect(blocked).rejects.toThrow("blocked");
  await ended;
  expect(shown).toEqual(["blocks", "bot.ts: the bot blocked its process for longer than its time limit"]);
});

test("the author of a bot that fills the memory between two turns sees the limit", async () => {
  const fill = "const all: unknown[] = []; setInterval(() => { all.push(Buffer.alloc(1e7, 1)); });";
  const match = await beginWith(`${fill} return 1;`, { memory_mb: 300 });
  expect(await match.choose(playerTurn(0))).toBe(1);
  await vi.waitFor(() => expect(shown).toEqual([expect.stringContaining("more than 300 MB of memory")]), WAIT_OPTIONS);
});

test("a bot that blocks one match plays its other matches", async () => {
  const file = write("bot.ts", "export default (turn: any) => { while (turn.tick === 0); return turn.tick; };");
  const bot = await load(file);
  const [one, other] = [await begin(bot), await begin(bot)];
  const blocked = one.choose(playerTurn(0, { limitMs: 500 }));
  expect(await other.choose(playerTurn(7))).toBe(7);
  await expect(blocked).rejects.toThrow("blocked");
});

test("one process plays consecutive matches, and its module keeps its state", async () => {
  const file = write("bot.ts", "let n = 0; export default { choose: () => ++n };");
  const bot = await load(file);
  for (const expected of [1, 2, 3]) {
    const match = await begin(bot);
    expect(await match.choose(playerTurn(0))).toBe(expected);
    await match.end?.({} as GameResult);
  }
});

test("twenty matches at a time share eight processes", async () => {
  const bot = await load(write("bot.ts", "export default { choose: () => process.pid };"));
  const matches = await Promise.all(Array.from({ length: 20 }, () => begin(bot)));
  const pids = await Promise.all(matches.map((match) => match.choose(playerTurn(0))));
  expect(new Set(pids).size).toBe(8);
  for (const match of matches) match.close?.();
});

test("a turn or an end without an answer fails at its time limit, even if the process is not blocked", async () => {
  const source =
    "export default { choose: (turn) => (turn.tick === 0 ? new Promise(() => {}) : 1), end: () => new Promise(() => {}) };";
  const match = await begin(await load(write("bot.js", source)));
  await expect(match.choose(playerTurn(0, SHORT))).rejects.toThrow("the bot did not answer in time");
  expect(await match.choose(playerTurn(1))).toBe(1);
  await match.end?.({} as GameResult);
  expect(shown).toEqual(Array(2).fill("bot.ts: the bot did not answer in time"));
});

test("a turn of a match that is played again fails without a line", async () => {
  const file = write("bot.js", "export default { choose: (turn) => (turn.log('asked'), new Promise(() => {})) };");
  const lines: string[] = [];
  const asked = Promise.withResolvers<void>();
  const show = (line: string): void => {
    lines.push(line);
    asked.resolve();
  };
  const player = new Player(await load(file), show, systemClock);
  const invite = invitation();
  await player.invite(invite, "token");
  const answer = player.move(moveRequest(), "token");
  await asked.promise;
  await player.invite({ ...invite, epoch: 2 }, "token");
  expect(await answer).toEqual({ failed: "the match was withdrawn" });
  expect(lines).toEqual(["asked"]);
  player.close();
});

test.each(["turn.log", "console.log"])("lines of %s beyond a megabyte in a match are not kept", async (log) => {
  const match = await beginWith(
    `for (let i = 0; i < 300; i++) { ${log}("x".repeat(10_000)); await new Promise((resolve) => setTimeout(resolve)); } return 1;`,
  );
  expect(await match.choose(playerTurn(0))).toBe(1);
  await vi.waitFor(() => expect(shown.at(-1)).toContain("further lines are not kept"), WAIT_OPTIONS);
  expect(shown).toHaveLength(100);
});

test("bots that are loaded at the same time do not disturb each other", async () => {
  const files = [1, 2, 3].map((n) => write(`bot${n}.ts`, `export default { choose: () => ${n} };`));
  const matches = await Promise.all(files.map(async (file) => begin(await load(file))));
  expect(await Promise.all(matches.map((match) => match.choose(playerTurn(0))))).toEqual([1, 2, 3]);
});

test("a match that begins while processes without a match end is played", async () => {
  const bot = await load(write("bot.ts", "export default { choose: () => 1 };"));
  const first = await Promise.all([1, 2, 3, 4, 5, 6].map(() => begin(bot)));
  await Promise.all(first.map((match) => match.end?.({} as GameResult)));
  const second = await Promise.all([1, 2, 3, 4, 5, 6].map(() => begin(bot)));
  expect(await Promise.all(second.map((match) => match.choose(playerTurn(0, { limitMs: 5_000 }))))).toEqual([
    1, 1, 1, 1, 1, 1,
  ]);
  expect(shown).toEqual([]);
});

test("errors of start and end are shown, and the match continues", async () => {
  const source = `export default {
  start() { throw new Error("no start"); },
  choose: () => 1,
  end() { throw new Error("no end"); },
};`;
  const file = write("bot.ts", source);
  const match = await begin(await load(file));
  expect(await match.choose(playerTurn(0))).toBe(1);
  await match.end?.({} as GameResult);
  expect(shown).toEqual([`${file}:2:19: Error: no start`, `${file}:4:17: Error: no end`]);
});
