import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { manualClock } from "../../lib/testing/clock.ts";
import { StartError, StoreLost } from "../process/exit.ts";
import { systemDisk } from "./disk.ts";

const folder = mkdtempSync(join(tmpdir(), "disk-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newFile = (): string => join(folder, "below", `${++files}.sqlite`);
const SCHEMA = "CREATE TABLE IF NOT EXISTS items (name TEXT PRIMARY KEY) STRICT;";
const insert = (name: string) => [{ sql: "INSERT INTO items VALUES (?)", parameters: [name] }];
const onBroken = (error: Error): void => {
  throw error;
};

describe.each([
  ["on a separate thread", true],
  ["on this thread", false],
])("a store that is written %s", (_, isWrittenByThread) => {
  it("settles its commits before it closes, keeps them, and cannot be opened twice", async () => {
    const disk = systemDisk(systemClock);
    const file = newFile();
    const options = { isWrittenByThread, onBroken };
    const first = disk.openStore(file, SCHEMA, options);
    expect(() => disk.openStore(file, SCHEMA, options)).toThrow(new StartError(`${file} is in use by another process`));
    const committed = first.writer.commit(insert("apple"));
    await first.close();
    await committed;
    const again = disk.openStore(file, SCHEMA, options);
    expect(again.db.prepare("SELECT name FROM items").all()).toEqual([{ name: "apple" }]);
    await again.close();
  });

  it("reports a replaced file as lost, once", async () => {
    const clock = manualClock();
    const lost: Error[] = [];
    const first = Promise.withResolvers<void>();
    const file = newFile();
    const store = systemDisk(clock).openStore(file, SCHEMA, {
      isWrittenByThread,
      onBroken(error) {
        lost.push(error);
        first.resolve();
      },
    });
    renameSync(file, `${file}.old`);
    await clock.advance(1_000);
    await first.promise;
    await clock.advance(5_000);
    expect(lost).toEqual([expect.any(StoreLost)]);
    await store.close();
  });
});

it("a file that is deleted before the writing thread has opened it is not created again, and is reported as lost", async () => {
  const file = newFile();
  const broken = Promise.withResolvers<Error>();
  const disk = systemDisk(manualClock()); // which does not check the file
  const store = disk.openStore(file, SCHEMA, { isWrittenByThread: true, onBroken: broken.resolve });
  rmSync(file);
  expect(await broken.promise).toEqual(expect.any(StoreLost));
  expect(existsSync(file)).toBe(false);
  expect(store.db.prepare("SELECT count(*) AS count FROM items").get()).toEqual({ count: 0 });
  await store.close();
});

it("a store reports that commits fail because its file is read-only", async () => {
  const broken = Promise.withResolvers<Error>();
  const store = systemDisk(systemClock).openStore(newFile(), SCHEMA, {
    isWrittenByThread: false,
    onBroken: broken.resolve,
  });
  store.db.exec("PRAGMA query_only = ON");
  await expect(store.writer.commit(insert("apple"))).rejects.toThrow("read-only");
  expect((await broken.promise).message).toContain("readonly");
  await store.close();
});

it("a locked file cannot be locked again until it is released", () => {
  const disk = systemDisk(systemClock);
  const file = newFile();
  const lock = disk.lock(file);
  expect(disk.lock(file)).toBe(null);
  lock?.release();
  const again = disk.lock(file);
  expect(again).not.toBe(null);
  again?.release();
});

it("a secret is stored in a file that only its owner can read", () => {
  const disk = systemDisk(systemClock);
  const file = newFile();
  expect(disk.readSecret(file)).toBe(undefined);
  disk.writeSecret(file, "a secret");
  expect([disk.readSecret(file), statSync(file).mode & 0o777]).toEqual(["a secret", 0o600]);
  chmodSync(file, 0o644);
  disk.restrictToOwner(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
