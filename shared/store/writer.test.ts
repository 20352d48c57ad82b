import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { openSqlite } from "./sqlite.ts";
import { localWriter, threadWriter, type Writer } from "./writer.ts";

const folder = mkdtempSync(join(tmpdir(), "writer-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SCHEMA = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY) STRICT";
const insert = (...numbers: number[]) =>
  numbers.map((n) => ({ sql: "INSERT INTO t (n) VALUES (?)", parameters: [n] }) as const);

describe.each(["local", "thread"] as const)("a writer, %s", (kind) => {
  let files = 0;
  function open() {
    const file = join(folder, `${kind}-${++files}.sqlite`);
    const db = openSqlite(file, SCHEMA);
    const failures: Error[] = [];
    const writer: Writer =
      kind === "local"
        ? localWriter(db, systemClock)
        : threadWriter(file, (reason) => failures.push(reason), systemClock);
    const numbers = () =>
      db
        .prepare("SELECT n FROM t ORDER BY n")
        .all()
        .map((row) => row.n);
    return { writer, numbers, failures };
  }

  test("a unit that breaks a constraint is not written, and the other units of its group are", async () => {
    const { writer, numbers } = open();
    const settled = await Promise.allSettled([
      writer.commit(insert(1, 2)),
      writer.commit(insert(3, 2)),
      writer.commit(insert(4)),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(settled[1]).toMatchObject({ reason: { message: expect.stringMatching(/UNIQUE constraint/) } });
    expect(numbers()).toEqual([1, 2, 4]);
    await writer.close();
  });

  test("units that are passed to commit during a write are written after it, in order", async () => {
    const { writer, numbers } = open();
    const order: number[] = [];
    const commit = (n: number) => writer.commit(insert(n)).then(() => order.push(n));
    const first = commit(1);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, commit(2), commit(3)]);
    expect(order).toEqual([1, 2, 3]);
    expect(numbers()).toEqual([1, 2, 3]);
    await writer.close();
  });

  test("close resolves after all pending units are written", async () => {
    const { writer, numbers } = open();
    const committed = Promise.all([writer.commit(insert(1)), writer.commit(insert(2))]);
    await writer.close();
    await committed;
    expect(numbers()).toEqual([1, 2]);
  });
});

test("a writer whose thread cannot open the file reports the reason and rejects every commit", async () => {
  const failure = Promise.withResolvers<Error>();
  const writer = threadWriter(folder, failure.resolve, systemClock);
  await expect(writer.commit(insert(1))).rejects.toThrow("the writer thread failed");
  expect((await failure.promise).cause).toMatchObject({ message: expect.stringMatching(/unable to open/) });
  await expect(writer.commit(insert(2))).rejects.toThrow("the writer thread failed");
  await writer.close();
});

test("a closed writer rejects later commits", async () => {
  const file = join(folder, "closed.sqlite");
  openSqlite(file, SCHEMA).close();
  const writer = threadWriter(file, () => {}, systemClock);
  await writer.close();
  await expect(writer.commit(insert(1))).rejects.toThrow("closed");
});
