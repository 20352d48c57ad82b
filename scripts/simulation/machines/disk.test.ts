import { expect, it } from "vitest";
import { EVENT_LOG_SCHEMA, sqliteEventLog } from "#shared/store/sqlite-event-log.ts";
import { processClock } from "./clock.ts";
import { type CommitFate, createDisk } from "./disk.ts";
import { createScheduler } from "./scheduler.ts";

const FILE = "/manager/log.sqlite";
const event = { type: "counted", body: "{}" };

/** A machine whose commits end as given, one after the other, then well. */
function machine(...fates: CommitFate[]) {
  const scheduler = createScheduler();
  const ends: string[] = [];
  let stop = (): void => {};
  const disk = createDisk({
    fate: () => fates.shift() ?? "written",
    commitMs: () => 1,
    onCommitted: () => {},
    onCrash: () => stop(),
  });
  return {
    ends,
    /** A process on the machine: its log, and the outcome of its appends. */
    start() {
      const clock = processClock(
        scheduler,
        () => 0,
        () => {},
      );
      const own = disk.of(clock);
      stop = () => {
        own.stop();
        clock.stop();
      };
      const { db, writer } = own.openStore(FILE, EVENT_LOG_SCHEMA, {
        isWrittenByThread: false,
        onBroken: () => ends.push("broken"),
      });
      const log = sqliteEventLog(db, writer);
      const append = (expectedVersion: number): void =>
        void log.append([{ stream: "s", expectedVersion, events: [event] }]).then(
          () => ends.push("acknowledged"),
          () => ends.push("rejected"),
        );
      return { log, append };
    },
    async run() {
      while (await scheduler.step());
    },
  };
}

it("keeps what was committed for the next process of the machine", async () => {
  const own = machine();
  const first = own.start();
  first.append(0);
  first.append(1);
  await own.run();
  expect(own.ends).toEqual(["acknowledged", "acknowledged"]);
  expect(own.start().log.read("s")).toHaveLength(2);
});

it.each([
  ["lost in a crash", 0],
  ["written before a crash", 1],
] as const)("of a commit that is %s there are %i events, and its writer gets no answer", async (fate, count) => {
  const own = machine(fate);
  own.start().append(0);
  await own.run();
  expect(own.ends).toEqual([]);
  expect(own.start().log.read("s")).toHaveLength(count);
});

it("rejects a commit while it is full, and takes the next one", async () => {
  const own = machine("disk full");
  const { append, log } = own.start();
  append(0);
  await own.run();
  append(0);
  await own.run();
  expect(own.ends).toEqual(["broken", "rejected", "acknowledged"]);
  expect(log.read("s")).toHaveLength(1);
});
