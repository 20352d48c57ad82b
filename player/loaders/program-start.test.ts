import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import { INFO, linePrograms, patient } from "../testing/line-programs.ts";
import { linesSpec } from "./lines.ts";
import { ProgramProcesses } from "./program-processes.ts";

const { pathOf, folder, shown, warnings, loadSpec, begin, turn } = linePrograms();

/** A program whose import lasts until the file `imported` exists. Each process writes its id to the name of a file. */
const IMPORT = `
import json, os, sys, time
open(f"begun-{os.getpid()}", "w").close()
while not os.path.exists("imported"): time.sleep(0.01)
`;
const READY = 'print(json.dumps({"ready": True}), flush=True)';
const LOOP = `
for line in sys.stdin:
    if json.loads(line)["type"] == "turn": print(json.dumps({"action": os.getpid()}), flush=True)
`;
/** The program ignores the end of its input. */
const ENDLESS = `${LOOP}while True: time.sleep(1)`;

function spec(source: string, startMs?: number): string {
  writeFileSync(pathOf("bot.py"), source);
  return linesSpec(["/usr/bin/python3", "bot.py"], folder(), startMs);
}

/** Ends the import of all processes. */
const finishImport = (): void => writeFileSync(pathOf("imported"), "");

const begun = (): readonly number[] =>
  readdirSync(folder()).flatMap((name) => (name.startsWith("begun-") ? [Number(name.slice(6))] : []));

async function untilBegun(count: number): Promise<void> {
  await vi.waitFor(() => expect(begun().length).toBeGreaterThanOrEqual(count), WAIT_OPTIONS);
}

/** Returns a function that says whether a program is loaded. */
function observed(loading: Promise<LoadedBot>): () => boolean {
  let isLoaded = false;
  void loading.then(() => {
    isLoaded = true;
  });
  return () => isLoaded;
}

describe("the start of a program", () => {
  test.each([
    ["without a ready line ends when it reads its input", IMPORT + LOOP],
    ["with a ready line ends with this line", IMPORT + READY + ENDLESS],
  ])("%s", async (_name, source) => {
    const clock = manualClock();
    const loading = loadSpec(spec(source), clock);
    const isLoaded = observed(loading);
    await untilBegun(1);
    await clock.advance(2_500);
    expect(isLoaded()).toBe(false);
    finishImport();
    const player = begin(await loading);
    expect(begun()).toContain(await player.choose(turn(0)));
    expect([shown, warnings]).toEqual([[], []]);
  });

  test("is waited for only during the start time, which the warning and the fault of the first turn name", async () => {
    const clock = manualClock();
    const loading = loadSpec(spec(IMPORT + LOOP, 20_000), clock);
    const isLoaded = observed(loading);
    await untilBegun(1);
    await clock.advance(19_999);
    expect(isLoaded()).toBe(false);
    await clock.advance(1);
    const player = begin(await loading);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^\/usr\/bin\/python3 bot\.py has not shown within 20000 ms .*\{"ready": true\}.* raise start_ms$/,
      ),
    ]);
    const over = new AbortController();
    const open = player.choose(turn(0, over.signal));
    over.abort();
    await expect(open).rejects.toThrow(
      "the turn ended without an answer: the program did not show that it had started. If it needs more than 20000 ms for its start, raise start_ms",
    );
  });

  test("is also over for a program that ignores the end of its input, with a warning", async () => {
    finishImport();
    const clock = manualClock();
    const loading = loadSpec(spec(IMPORT + ENDLESS), clock);
    await untilBegun(1);
    await clock.advance(10_000);
    expect(begun()).toContain(await begin(await loading).choose(turn(0)));
    expect(warnings).toHaveLength(1);
  });

  test("of the next match takes place during the match before, in one further process", async () => {
    finishImport();
    const loaded = await loadSpec(spec(IMPORT + READY + LOOP), patient());
    const first = begin(loaded);
    const before = begun();
    await first.choose(turn(0));
    await first.choose(turn(1));
    await vi.waitFor(() => expect(begun()).toHaveLength(before.length + 1), WAIT_OPTIONS);
    const [next] = begun().filter((pid) => !before.includes(pid));
    expect(await begin(loaded).choose(turn(0))).toBe(next);
  });

  test("is waited for by an invitation that comes before its end", async () => {
    finishImport();
    const loaded = await loadSpec(spec(IMPORT + READY + LOOP), patient());
    rmSync(pathOf("imported"));
    const before = begun().length;
    await begin(loaded).choose(turn(0));
    let hasAccepted = false;
    const second = loaded.create(() => {});
    const starting = Promise.resolve(second.start?.(INFO)).then(() => {
      hasAccepted = true;
    });
    await untilBegun(before + 1);
    expect(hasAccepted).toBe(false);
    finishImport();
    await starting;
    expect(begun()).toContain(await second.choose(turn(0)));
  });

  test("is waited for nearly as long as the referee waits for the answer to the invitation", async () => {
    finishImport();
    const clock = manualClock();
    const loaded = await loadSpec(spec(IMPORT + READY + LOOP), clock);
    rmSync(pathOf("imported"));
    const before = begun().length;
    await begin(loaded).choose(turn(0));
    await untilBegun(before + 1);
    let hasAccepted = false;
    const starting = Promise.resolve(loaded.create(() => {}).start?.(INFO, 7_000)).then(() => {
      hasAccepted = true;
    });
    await clock.advance(6_999);
    expect(hasAccepted).toBe(false);
    await clock.advance(1);
    await starting;
  });

  test("that lasts longer than an invitation waits is over before each match, however quickly the matches follow", async () => {
    const clock = manualClock();
    spec(IMPORT + LOOP);
    const program = { command: ["/usr/bin/python3", "bot.py"], folder: folder() };
    const processes = new ProgramProcesses(program, clock, { warn: () => {}, fail: () => {} });
    const within = async (done: Promise<unknown>): Promise<number> => {
      const startedAt = clock.monotonic();
      let isDone = false;
      void done.then(() => {
        isDone = true;
      });
      for (await clock.advance(0); !isDone; await clock.advance(100));
      return clock.monotonic() - startedAt;
    };
    const loading = processes.load();
    await untilBegun(2);
    await clock.advance(9_000);
    finishImport();
    await untilBegun(3); // the start is measured
    await within(loading);
    for (let match = 0; match < 12; match++) {
      const process = processes.start("rps rps.v1");
      const waitedMs = await within(processes.loaded(process, { waitMs: 4_000, openMatches: 1 }));
      expect(waitedMs).toBeLessThanOrEqual(4_000);
      expect(process.ageMs()).toBeGreaterThanOrEqual(9_000);
      processes.answered(process);
      process.kill();
    }
    await processes.close();
  });

  test("has the time that the text of the command sets", async () => {
    const clock = manualClock();
    spec(IMPORT + LOOP);
    const command = `sh -c 'cd "${folder()}" && exec /usr/bin/python3 bot.py'`;
    const loading = loadSpec(`lines:${command} #start_ms=700`, clock);
    await untilBegun(1);
    await clock.advance(700);
    expect((await loading).name).toBe(`lines:${command}`);
    expect(warnings[0]).toContain("within 700 ms");
  });
});
