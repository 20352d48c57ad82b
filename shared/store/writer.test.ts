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
    const deaths: Error[] = [];
    const writer: Writer =
      kind === "local"
        ? localWriter(db, systemClock)
        : threadWriter(file, (reason) => deaths.push(reason), systemClock);
    const numbers = () =>
      db
        .prepare("SELECT n FROM t ORDER BY n")
        .all()
        .map((row) => row.n);
    return { writer, numbers, deaths };
  }

  test("a unit is written whole or not at all, and a refused one alone", async () => {
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

  test("units handed in while others are being written come after them, in order", async () => {
    const { writer, numbers } = open();
    const order: number[] = [];
    const hand = (n: number) => writer.commit(insert(n)).then(() => order.push(n));
    const first = hand(1);
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, hand(2), hand(3)]);
    expect(order).toEqual([1, 2, 3]);
    expect(numbers()).toEqual([1, 2, 3]);
    await writer.close();
  });

  test("close settles what was handed in", async () => {
    const { writer, numbers } = open();
    const handed = Promise.all([writer.commit(insert(1)), writer.commit(insert(2))]);
    await writer.close();
    await handed;
    expect(numbers()).toEqual([1, 2]);
  });
});

test("a thread that cannot open its file says so and refuses everything", async () => {
  const death = Promise.withResolvers<Error>();
  const writer = threadWriter(folder, death.resolve, systemClock);
  await expect(writer.commit(insert(1))).rejects.toThrow("the writing thread died");
  expect((await death.promise).cause).toMatchObject({ message: expect.stringMatching(/unable to open/) });
  await expect(writer.commit(insert(2))).rejects.toThrow("the writing thread died");
  await writer.close();
});

test("a closed thread refuses what comes later", async () => {
  const file = join(folder, "closed.sqlite");
  openSqlite(file, SCHEMA).close();
  const writer = threadWriter(file, () => {}, systemClock);
  await writer.close();
  await expect(writer.commit(insert(1))).rejects.toThrow("closed");
});
