import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import type { GameResult, MatchInfo } from "../sdk.ts";
import { botHome } from "../testing/home.ts";
import { INFO, isRunning, linePrograms, patient, RESULT } from "../testing/line-programs.ts";
import { linesSpec } from "./lines.ts";
import { loadBot } from "./load-bot.ts";

const PYTHON = "/usr/bin/python3";
const { pathOf, folder, shown, failures, warnings, loadSpec, turn } = linePrograms();

beforeAll(() => requireProgram([PYTHON], "python3"));

interface Source {
  /** Statements before the ready line. */
  readonly imports?: string;
  /** The statement that prints the ready line before the first match. */
  readonly first?: string;
  /** Statements for a turn. */
  readonly turn?: string;
  /** Statements for the end of a match. */
  readonly end?: string;
  /** Statements for the start of a match. */
  readonly start?: string;
}

/** Writes a program that plays many matches in one process. It answers with its process id and the number of its match, unless it is given other statements. */
function spec(
  {
    turn: onTurn = "say(pid_and_count)",
    end = "say(ready)",
    start = "pass",
    imports = "",
    first = "say(ready)",
  }: Source = {},
  matches?: "one",
): string {
  const source = `
import json, os, random, sys, time
random.seed(os.getpid())
open(f"begun-{os.getpid()}", "w").close()
${imports}
def fails():
    if random.randrange(10) == 0: sys.exit(random.choice([0, 3]))
def say(value): print(json.dumps({"action": value} if isinstance(value, str) else value), flush=True)
ready = {"ready": True, "matches": "many"}
count = 0
${first}
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        count += 1
        match = message["match_id"]
        pid_and_count = f"{os.getpid()} {count}"
        ${start}
    elif message["type"] == "turn":
        ${onTurn}
    else:
        ${end}
`;
  writeFileSync(pathOf("bot.py"), source);
  return linesSpec([PYTHON, "bot.py"], folder(), undefined, matches);
}

async function begin(loaded: LoadedBot, info: Partial<MatchInfo> = {}): Promise<MatchBot> {
  const player = loaded.create((line) => void shown.push(line));
  await player.start?.({ ...INFO, ...info });
  return player;
}

/** Plays a match of one turn. Resolves with the action. */
async function play(loaded: LoadedBot, info: Partial<MatchInfo> = {}): Promise<string> {
  const player = await begin(loaded, info);
  const action = await player.choose(turn(0));
  await player.end?.(RESULT);
  return String(action);
}

/** The ids of the processes that have begun. */
const begun = (): readonly number[] =>
  readdirSync(folder()).flatMap((name) => (name.startsWith("begun-") ? [Number(name.slice(6))] : []));

const pidOf = (action: unknown): number => Number(String(action).split(" ")[0]);
const countOf = (action: unknown): number => Number(String(action).split(" ")[1]);

describe("a program whose ready line says that it plays many matches", () => {
  test("plays them one after the other in one process", async () => {
    const loaded = await loadSpec(spec(), patient());
    const actions = [await play(loaded), await play(loaded), await play(loaded)];
    expect(actions.map(countOf)).toEqual([1, 2, 3]);
    expect(new Set(actions.map(pidOf)).size).toBe(1);
    expect([shown, warnings, failures]).toEqual([[], [], []]);
  });

  test("may print its ready line only once: the player waits for another one after the first match only", async () => {
    const clock = manualClock();
    const loaded = await loadSpec(spec({ end: "pass" }), clock);
    const first = await play(loaded);
    const second = play(loaded);
    await vi.waitFor(() => expect(clock.timers()).toBeGreaterThan(1), WAIT_OPTIONS);
    await clock.advance(1_000);
    const actions = [first, await second, await play(loaded), await play(loaded)];
    expect(actions.map(countOf)).toEqual([1, 2, 3, 4]);
    expect(new Set(actions.map(pidOf)).size).toBe(1);
  });

  test("plays two matches at the same time in two processes, and further ones in the same two", async () => {
    const loaded = await loadSpec(spec(), patient());
    const pids = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const players = [await begin(loaded), await begin(loaded)];
      const actions = await Promise.all(players.map((player) => player.choose(turn(0))));
      expect(pidOf(actions[0])).not.toBe(pidOf(actions[1]));
      for (const action of actions) pids.add(pidOf(action));
      for (const player of players) await player.end?.(RESULT);
    }
    expect(pids.size).toBe(2);
  });

  test("has a process for each match with the setting matches=one", async () => {
    const loaded = await loadSpec(spec({}, "one"), patient());
    const actions = [await play(loaded), await play(loaded)];
    expect(actions.map(countOf)).toEqual([1, 1]);
    const command = `sh -c 'cd "${folder()}" && exec ${PYTHON} bot.py'`;
    const other = await loadSpec(`lines:${command} #matches=one,start_ms=9000`, systemClock);
    expect([await play(other), await play(other)].map(countOf)).toEqual([1, 1]);
    const file = await loadBot(`${pathOf("bot.py")}#matches=one`, systemClock, botHome());
    expect([await play(file), await play(file)].map(countOf)).toEqual([1, 1]);
    await file.close?.();
  });

  test("has other processes in another league, in another game and for another player", async () => {
    const loaded = await loadSpec(spec(), patient());
    const twin = await loadSpec(spec(), patient());
    const actions = [
      await play(loaded),
      await play(loaded, { leagueId: "cup" }),
      await play(loaded, { game: "even_odd.v1" }),
      await play(twin),
      await play(loaded),
    ];
    expect(actions.map(countOf)).toEqual([1, 1, 1, 1, 2]);
    expect(pidOf(actions[4])).toBe(pidOf(actions[0]));
  });

  test("starts no process ahead if its imports are quick, because the next match needs none", async () => {
    const loaded = await loadSpec(spec(), patient());
    for (let match = 0; match < 3; match++) await play(loaded);
    await loadSpec(spec(), patient()); // begins later than a process ahead would
    // The process of each of the two programs. Those that showed how long a start takes are terminated.
    await vi.waitFor(() => expect(begun().filter(isRunning)).toHaveLength(2), WAIT_OPTIONS);
  });

  test("starts processes ahead if its imports are slow, so that a match after a fault waits for no import", async () => {
    const clock = manualClock();
    const loading = loadSpec(spec({ imports: 'while not os.path.exists("imported"): time.sleep(0.01)' }), clock);
    await vi.waitFor(() => expect(begun()).toHaveLength(2), WAIT_OPTIONS);
    await clock.advance(9_000);
    writeFileSync(pathOf("imported"), "");
    await vi.waitFor(() => expect(begun().length).toBeGreaterThan(2), WAIT_OPTIONS);
    await clock.advance(20_000);
    const loaded = await loading;
    expect([await play(loaded), await play(loaded)].map(countOf)).toEqual([1, 2]);
    const ahead = begun();
    (await begin(loaded)).close?.();
    const next = await play(loaded);
    expect(countOf(next)).toBe(1);
    expect(ahead).toContain(pidOf(next));
  });

  test("has the lines on stderr of each match shown with this match, also those after its end", async () => {
    const log = (what: string): string => `print("${what}", match, file=sys.stderr, flush=True)`;
    const source = { start: log("start"), turn: `${log("turn")}; say("rock")`, end: `${log("end")}; say(ready)` };
    const loaded = await loadSpec(spec(source), patient());
    for (const matchId of ["R1M1", "R2M1", "R3M1"]) await play(loaded, { matchId });
    await vi.waitFor(() => expect(shown).toHaveLength(9), WAIT_OPTIONS);
    expect(shown).toEqual(
      ["R1M1", "R2M1", "R3M1"].flatMap((id) => ["start", "turn", "end"].map((what) => `rps ${id}: ${what} ${id}`)),
    );
  });

  test("is ended with its player: stdin is closed, and after two seconds the process is terminated", async () => {
    const clock = manualClock();
    const loaded = await loadSpec(spec(), clock);
    const pid = pidOf(await play(loaded));
    await loaded.close?.();
    expect(isRunning(pid)).toBe(false);
    const endless = await loadSpec(spec({ end: "say(ready)\n        while True: time.sleep(1)" }), clock);
    const other = pidOf(await play(endless));
    const closing = endless.close?.();
    await clock.advance(1_999);
    expect(isRunning(other)).toBe(true);
    await clock.advance(1);
    await closing;
    expect(isRunning(other)).toBe(false);
  });
});

/** A match that ends without a result, or with a fault of the program. */
const FAULTS: readonly (readonly [name: string, play: (player: MatchBot) => Promise<void>])[] = [
  [
    "whose turn ended without an answer",
    async (player) => {
      const over = new AbortController();
      const open = player.choose(turn(1, over.signal));
      over.abort();
      await expect(open).rejects.toThrow("the turn ended without an answer");
      await player.end?.(RESULT);
    },
  ],
  ["that was dropped", async (player) => player.close?.()],
  [
    "with an illegal action",
    async (player) => {
      await player.choose({ ...turn(0), rejection: "illegal move" });
      await player.end?.(RESULT);
    },
  ],
  [
    "that it has lost by forfeit",
    async (player) => {
      const lost = { winner: "P02", match_points: {}, termination: "forfeit" };
      await player.end?.({ ...RESULT, ...lost } as unknown as GameResult);
    },
  ],
  [
    "in which it has written a line that is no answer",
    async (player) => {
      await expect(player.choose(turn(2))).rejects.toThrow("the program wrote a line that is not");
      await player.end?.(RESULT);
    },
  ],
  [
    "in which its process ended",
    async (player) => {
      await expect(player.choose(turn(3))).rejects.toThrow("the program ended with code 0");
      await player.end?.(RESULT);
    },
  ],
];

describe("after a match", () => {
  test.each(FAULTS)("%s, the next one is played in a fresh process", async (_name, playFault) => {
    const loaded = await loadSpec(
      spec({
        turn: `
        if message["tick"] == 0: say(pid_and_count)
        elif message["tick"] == 1: time.sleep(0.3); say("late")
        elif message["tick"] == 2: print("debug", flush=True); say("late")
        else: sys.exit(0)`,
      }),
      patient(),
    );
    const before = await play(loaded);
    const player = await begin(loaded);
    expect(await player.choose(turn(0))).toBe(before.replace(/1$/, "2"));
    await playFault(player);
    const after = await play(loaded);
    expect(countOf(after)).toBe(1);
    expect(pidOf(after)).not.toBe(pidOf(before));
    expect([countOf(await play(loaded)), warnings]).toEqual([2, []]);
  });

  test.each([
    ["with a further ready line", "say(ready); sys.exit(0)"],
    ["without one", "sys.exit(0)"],
    ["with an error", "say(ready); sys.exit(3)"],
  ])(
    "at whose end the process exits %s, the next one is played in a fresh process without a fault",
    async (_name, end) => {
      const loaded = await loadSpec(spec({ end }), patient());
      const actions = [await play(loaded), await play(loaded), await play(loaded)];
      expect(actions.map(countOf)).toEqual([1, 1, 1]);
      expect(failures).toEqual([]);
    },
  );

  test.each([
    ["that waits for it", 3_000],
    ["whose turn waits for it", 1_000],
  ])(
    "a process that is not ready again after two seconds is terminated, and the match %s is played in a fresh one",
    async (_name, waitMs) => {
      const clock = manualClock();
      const loaded = await loadSpec(spec({ end: "say(ready) if count == 1 else time.sleep(10_000)" }), clock);
      const first = await play(loaded);
      expect(countOf(await play(loaded))).toBe(2);
      const player = loaded.create((line) => void shown.push(line));
      const third = Promise.resolve(player.start?.(INFO, waitMs)).then(() => player.choose(turn(0)));
      await clock.advance(1_999);
      expect(isRunning(pidOf(first))).toBe(true);
      await clock.advance(1);
      expect(countOf(await third)).toBe(1);
      expect(isRunning(pidOf(first))).toBe(false);
      expect(pidOf(await third)).not.toBe(pidOf(first));
    },
  );

  test("at whose end the process exits, and leaves another one with its output open, the next one is played", async () => {
    const leave =
      'import subprocess; open("child", "w").write(str(subprocess.Popen(["sleep", "600"]).pid)); sys.exit(0)';
    const loaded = await loadSpec(spec({ end: leave }), patient());
    await play(loaded);
    const player = await begin(loaded);
    try {
      expect(countOf(await player.choose(turn(0)))).toBe(1);
    } finally {
      process.kill(Number(readFileSync(pathOf("child"), "utf8")));
    }
  });
});

test("a match that ends before the process is ready for it is unknown to the program, and the process plays the next one", async () => {
  const clock = manualClock();
  const slow = 'while count == 2 and not os.path.exists("go"): time.sleep(0.01)\n        say(ready)';
  const loaded = await loadSpec(spec({ end: slow }), clock);
  const pid = pidOf(await play(loaded));
  await play(loaded);
  const cancelled = loaded.create(() => {});
  void cancelled.start?.(INFO);
  await cancelled.end?.(RESULT);
  const last = begin(loaded);
  writeFileSync(pathOf("go"), "");
  const action = await (await last).choose(turn(0));
  expect([pidOf(action), countOf(action)]).toEqual([pid, 3]);
  await clock.advance(2_000);
  expect(await (await last).choose(turn(1))).toBe(action);
});

test("no answer and no line on stderr of an unreliable program counts for another match", async () => {
  const log = (what: string): string => `print("${what}", match, file=sys.stderr, flush=True); fails()`;
  const onTurn = 'fails(); print("debug", flush=True) if random.randrange(10) == 0 else say(match)';
  const source = { start: log("start"), turn: onTurn, end: `${log("end")}; say(ready)` };
  const loaded = await loadSpec(spec(source), systemClock);
  let count = 0;
  const answers: [matchId: string, answer: unknown][] = [];
  const playMatches = async (): Promise<void> => {
    while (count < 60) {
      const matchId = `R${++count}M1`;
      const player = await begin(loaded, { matchId });
      for (let tick = 0; tick < 3; tick++) {
        const answer = await Promise.resolve(player.choose(turn(tick))).catch(() => null);
        if (answer !== null) answers.push([matchId, answer]);
      }
      if (count % 7 === 0) player.close?.();
      else await player.end?.(RESULT);
    }
  };
  await Promise.all([playMatches(), playMatches(), playMatches()]);
  await loaded.close?.();
  expect(answers.length).toBeGreaterThan(60);
  expect(answers.filter(([matchId, answer]) => answer !== matchId)).toEqual([]);
  const logged = shown.flatMap((line) => /^rps (\w+): (?:start|end) (\w+)$/.exec(line)?.slice(1) ?? []);
  expect(logged.length).toBeGreaterThan(120);
  expect(logged.filter((_, at) => at % 2 === 0)).toEqual(logged.filter((_, at) => at % 2 === 1));
});

describe("a line of a program that plays many matches", () => {
  test.each([
    ["a second answer", 'say(pid_and_count); say("late")', "say(ready)"],
    ["a line after the match", "say(pid_and_count)", 'print("bye", flush=True); say(ready)'],
  ])(
    "that belongs to no turn, as %s, is no answer in the next match, and each match has a process then",
    async (_name, onTurn, end) => {
      const loaded = await loadSpec(spec({ turn: onTurn, end }), patient());
      const actions = [];
      for (let match = 0; match < 4; match++) actions.push(await play(loaded));
      expect(actions).not.toContain("late");
      await vi.waitFor(() => expect(warnings).toHaveLength(1), WAIT_OPTIONS);
      expect(warnings[0]).toContain(
        "is neither its ready line nor the answer to a turn, so each match has a process from now on",
      );
      expect([await play(loaded), await play(loaded)].map(countOf)).toEqual([1, 1]);
    },
  );

  test("that belongs to no turn also ends the processes that wait for a match", async () => {
    const loaded = await loadSpec(spec({ turn: 'say(pid_and_count); say("late") if count == 2 else None' }), patient());
    const players = [await begin(loaded), await begin(loaded)];
    const pids = (await Promise.all(players.map((player) => player.choose(turn(0))))).map(pidOf);
    for (const player of players) await player.end?.(RESULT);
    await play(loaded);
    await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), WAIT_OPTIONS);
  });

  test("that repeats the ready line at the start of a match is no ready line of the next match", async () => {
    const clock = manualClock();
    const loaded = await loadSpec(spec({ first: "", start: "say(ready)", end: "pass" }), clock);
    await play(loaded);
    const second = play(loaded);
    await vi.waitFor(() => expect(clock.timers()).toBeGreaterThan(1), WAIT_OPTIONS);
    await clock.advance(1_000);
    expect([await second, await play(loaded)].map(countOf)).toEqual([2, 3]);
    expect([shown, warnings]).toEqual([[], []]);
  });

  test("that is no answer is a fault of the match if the ready line has come before", async () => {
    const loaded = await loadSpec(
      spec({ turn: 'say(pid_and_count) if count == 1 else print("debug", flush=True)' }),
      patient(),
    );
    await play(loaded);
    await expect((await begin(loaded)).choose(turn(0))).rejects.toThrow("the program wrote a line that is not");
    expect([countOf(await play(loaded)), warnings]).toEqual([1, []]);
  });

  test("that comes late from the match before, instead of the first answer of a match, is no fault of this match", async () => {
    const clock: ManualClock = manualClock();
    const loaded = await loadSpec(spec({ end: 'print("I have won ", end="")' }), clock);
    const first = await play(loaded);
    const second = play(loaded);
    await vi.waitFor(() => expect(clock.timers()).toBeGreaterThan(1), WAIT_OPTIONS);
    await clock.advance(1_000);
    expect(countOf(await second)).toBe(1);
    expect(pidOf(await second)).not.toBe(pidOf(first));
    expect(shown).toEqual([
      expect.stringContaining("stdout: I have won"),
      "rps R1M1: the process that has played the match before is replaced, because it has not answered",
    ]);
  });
});
