import { expect, it } from "vitest";
import { EVENT_LOG_SCHEMA, sqliteEventLog } from "#shared/store/sqlite-event-log.ts";
import { processClock } from "./clock.ts";
import { type CommitFate, createDisk } from "./disk.ts";
import { createScheduler } from "./scheduler.ts";

const FILE = "/manager/log.sqlite";
const event = { type: "counted", body: "{}" };

/** Creates a machine whose commits have the given fates in sequence. Later commits are written. */
function createMachine(...fates: CommitFate[]) {
  const scheduler = createScheduler();
  const outcomes: string[] = [];
  let stop = (): void => {};
  const disk = createDisk({
    fate: () => fates.shift() ?? "written",
    commitMs: () => 1,
    onCommitted: () => {},
    onCrash: () => stop(),
  });
  return {
    outcomes,
    /** Starts a process on the machine; returns its log and a function that appends an event. */
    start() {
      const clock = processClock(
        scheduler,
        () => 0,
        () => {},
      );
      const processDisk = disk.forProcess(clock);
      stop = () => {
        processDisk.stop();
        clock.stop();
      };
      const { db, writer } = processDisk.openStore(FILE, EVENT_LOG_SCHEMA, {
        isWrittenByThread: false,
        onBroken: () => outcomes.push("broken"),
      });
      const log = sqliteEventLog(db, writer);
      const append = (expectedVersion: number): void =>
        void log.append([{ stream: "s", expectedVersion, events: [event] }]).then(
          () => outcomes.push("acknowledged"),
          () => outcomes.push("rejected"),
        );
      return { log, append };
    },
    async run() {
      while (await scheduler.step());
    },
  };
}

it("the next process of a machine reads the committed events", async () => {
  const machine = createMachine();
  const first = machine.start();
  first.append(0);
  first.append(1);
  await machine.run();
  expect(machine.outcomes).toEqual(["acknowledged", "acknowledged"]);
  expect(machine.start().log.read("s")).toHaveLength(2);
});

it.each([
  ["lost in a crash", 0],
  ["written before a crash", 1],
] as const)("a commit that is %s leaves %i events and does not resolve", async (fate, count) => {
  const machine = createMachine(fate);
  machine.start().append(0);
  await machine.run();
  expect(machine.outcomes).toEqual([]);
  expect(machine.start().log.read("s")).toHaveLength(count);
});

it("a commit on a full disk is rejected, and the next one is written", async () => {
  const machine = createMachine("disk full");
  const { append, log } = machine.start();
  append(0);
  await machine.run();
  append(0);
  await machine.run();
  expect(machine.outcomes).toEqual(["broken", "rejected", "acknowledged"]);
  expect(log.read("s")).toHaveLength(1);
});
