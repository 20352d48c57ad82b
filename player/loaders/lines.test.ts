import { describe, expect, test, vi } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { INFO, isRunning, linePrograms, RESULT } from "../testing/line-programs.ts";

const { shown, failures, load, begin, turn, received } = linePrograms();

describe("a program that plays by lines", () => {
  test("receives the match, each turn and the result, and its answers are the actions", async () => {
    const player = begin(await load('if (message.type === "turn") say({ action: message.legal[message.tick] });'));
    expect([await player.choose(turn(0)), await player.choose(turn(1))]).toEqual(["rock", "paper"]);
    await player.end?.(RESULT);
    await vi.waitFor(() => expect(received()).toHaveLength(4), WAIT_OPTIONS);
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

  test("may print a ready line first, for which the next match waits", async () => {
    const say =
      'if (message.type === "start") say({ ready: true }); if (message.type === "turn") say({ action: "rock" });';
    const loaded = await load(say);
    const first = begin(loaded);
    expect(await first.choose(turn(0))).toBe("rock");
    const second = loaded.create((line) => void shown.push(line));
    await second.start?.(INFO);
    expect(received().map(({ type }) => type)).toEqual(["start", "turn", "start"]);
    expect(await second.choose(turn(0))).toBe("rock");
    expect(shown).toEqual([]);
  });

  test("prints no ready line after its first line", async () => {
    const player = begin(
      await load('if (message.type === "turn") say(message.tick === 0 ? { action: "rock" } : { ready: true });'),
    );
    expect(await player.choose(turn(0))).toBe("rock");
    await expect(player.choose(turn(1))).rejects.toThrow('the program wrote a line that is not {"action": …}');
  });

  test("has a separate process for each match", async () => {
    const loaded = await load('if (message.type === "turn") say({ action: process.pid });');
    const [one, two] = [begin(loaded), begin(loaded)];
    const pids = [await one.choose(turn(0)), await two.choose(turn(0)), await one.choose(turn(1))];
    expect(pids[0]).toBe(pids[2]);
    expect(pids[0]).not.toBe(pids[1]);
  });

  test("may begin its lines with a byte order mark", async () => {
    const player = begin(
      await load('if (message.type === "turn") say("\\uFEFF" + JSON.stringify({ action: "rock" }));'),
    );
    expect([await player.choose(turn(0)), await player.choose(turn(1))]).toEqual(["rock", "rock"]);
  });

  test("is started again for the next turn when its process has ended", async () => {
    const crash =
      'if (message.tick === 0) { console.error("no luck"); process.exitCode = 3; process.stdin.destroy(); }';
    const clock = manualClock();
    const player = begin(await load(`${crash} if (message.tick === 1) say({ action: "paper" });`, clock));
    const failed = expect(player.choose(turn(0))).rejects.toThrow("the program ended with code 3");
    // The player waits whether the program also ends with an error without input.
    await vi.waitFor(() => expect(clock.timers()).toBe(1), WAIT_OPTIONS);
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
    await vi.waitFor(() => expect(shown).toEqual(["rps R1M1: stdout: ready"]), WAIT_OPTIONS);
    expect(await player.choose(turn(0))).toBe("paper");
  });

  test("has its lines on stderr shown with the match, also those before the first turn", async () => {
    const player = begin(await load('console.error(message.type); if (message.type === "turn") say({ action: 1 });'));
    expect(await player.choose(turn(0))).toBe(1);
    await vi.waitFor(() => expect(shown).toEqual(["rps R1M1: start", "rps R1M1: turn"]), WAIT_OPTIONS);
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
    await vi.waitFor(() => expect(received()).toHaveLength(3), WAIT_OPTIONS);
    expect(isRunning(pid)).toBe(true);
    await clock.advance(2_000);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT_OPTIONS);
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
    await vi.waitFor(() => expect(isRunning(first)).toBe(false), WAIT_OPTIONS);
    await loaded.close?.();
    await vi.waitFor(() => expect(isRunning(second)).toBe(false), WAIT_OPTIONS);
  });
});
