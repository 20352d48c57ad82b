import { expect, test } from "vitest";
import { openSqlite } from "./sqlite.ts";
import { createHeads, EVENT_LOG_SCHEMA, type Head, sqliteEventLog } from "./sqlite-event-log.ts";
import { events } from "./testing/event-log.ts";
import { testWriter } from "./testing/writer.ts";

function heads(capacity: number) {
  const reads: string[] = [];
  const read = (stream: string): Head => {
    reads.push(stream);
    return { stream, number: null, version: 0, hash: "", pendingAppends: 0, settled: Promise.resolve() };
  };
  return { ...createHeads(read, capacity), reads };
}

test("the most recently read heads are kept, and evicted heads are read again", () => {
  const { of, reads } = heads(2);
  for (const stream of ["a", "b", "a", "c", "b", "a"]) of(stream);
  expect(reads).toEqual(["a", "b", "c", "a"]);
});

test("a head with a pending append is never evicted", () => {
  const { of, reads } = heads(2);
  const busy = of("busy");
  busy.pendingAppends = 1;
  for (const stream of ["a", "b", "c", "d"]) of(stream);
  expect(of("busy")).toBe(busy);
  busy.pendingAppends = 0;
  for (const stream of ["e", "f"]) of(stream);
  expect(of("busy")).not.toBe(busy);
  expect(reads.filter((stream) => stream === "busy")).toHaveLength(2);
});

test("a dropped head is read again, and a head that was read since then stays", () => {
  const { of, drop } = heads(2);
  const failed = of("a");
  drop([failed]);
  const fresh = of("a");
  drop([failed]);
  expect(fresh).not.toBe(failed);
  expect(of("a")).toBe(fresh);
});

test("a log keeps the heads of pending appends, even beyond its capacity", async () => {
  const db = openSqlite(":memory:", EVENT_LOG_SCHEMA);
  const log = sqliteEventLog(db, testWriter(db), { maxHeads: 1 });
  const streams = ["a", "b", "c"];
  const appendAll = (expectedVersion: number) =>
    log.append(streams.map((stream) => ({ stream, expectedVersion, events: events(2) })));
  await Promise.all([appendAll(0), appendAll(2), appendAll(4)]);
  for (const stream of streams) expect(log.read(stream).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5]);
  db.close();
});
