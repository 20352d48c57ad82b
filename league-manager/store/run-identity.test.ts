import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter } from "#shared/store/writer.ts";
import { managerStore } from "./manager-store.ts";
import { openRun, readRun } from "./run-identity.ts";
import { MANAGER_SCHEMA } from "./schema.ts";

function newStore() {
  const db = openSqlite(":memory:", MANAGER_SCHEMA);
  onTestFinished(() => db.close());
  return managerStore(db, localWriter(db, systemClock));
}

test("managers that open a new store at once get the same identity", async () => {
  const store = newStore();
  const runs = await Promise.all(["one", "two", null].map((seed) => openRun(store, seed, systemIds)));
  expect(new Set(runs.map(({ runId, seed }) => `${runId} ${seed}`)).size).toBe(1);
  expect(["one", "two"]).toContain(runs[0]?.seed);
  expect(await readRun(store)).toEqual(runs[0]);
});

test("a store keeps its identity, also if a later start names another seed", async () => {
  const store = newStore();
  expect(await readRun(store)).toEqual({ runId: "", seed: "" });
  const first = await openRun(store, "given", systemIds);
  expect(first).toEqual({ runId: expect.stringMatching(/./), seed: "given" });
  expect(await openRun(store, "other", systemIds)).toEqual(first);
});

test("a new store without a given seed gets a random one", async () => {
  const [one, other] = [await openRun(newStore(), null, systemIds), await openRun(newStore(), null, systemIds)];
  expect(one.seed.length).toBeGreaterThan(20);
  expect(one.seed).not.toBe(other.seed);
});
