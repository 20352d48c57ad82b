import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter } from "#shared/store/writer.ts";
import { MANAGER_SCHEMA, managerStore, openRun, readRun } from "./manager-store.ts";

function newStore() {
  const db = openSqlite(":memory:", MANAGER_SCHEMA);
  onTestFinished(() => db.close());
  return managerStore(db, localWriter(db, systemClock));
}

/** The seed of a run whose programs are all started by its command. */
const closed = (seed: string | null) => ({ seed, isOpen: false });

test("managers that open a new store at once get the same identity", async () => {
  const store = newStore();
  const runs = await Promise.all(["one", "two", null].map((seed) => openRun(store, closed(seed), systemIds)));
  expect(new Set(runs.map(({ runId, seed }) => `${runId} ${seed}`)).size).toBe(1);
  expect(["one", "two"]).toContain(runs[0]?.seed);
  expect(await readRun(store)).toEqual(runs[0]);
});

test("a store keeps its identity, also if a later start names another seed", async () => {
  const store = newStore();
  expect(await readRun(store)).toEqual({ runId: "", seed: "" });
  const first = await openRun(store, closed("given"), systemIds);
  expect(first).toEqual({ runId: expect.stringMatching(/./), seed: "given" });
  expect(await openRun(store, closed("other"), systemIds)).toEqual(first);
});

test("a new store without a given seed gets a random one", async () => {
  const open = () => openRun(newStore(), { seed: null, isOpen: true }, systemIds);
  const [one, other] = [await open(), await open()];
  expect(one.seed).toMatch(/^[\da-f]{64}$/);
  expect(one.seed).not.toBe(other.seed);
});

test("an open run takes no short seed, and keeps the one that it already has", async () => {
  const store = newStore();
  await expect(openRun(store, { seed: "7", isOpen: true }, systemIds)).rejects.toThrow(/^--seed 7: programs /);
  expect(await readRun(store)).toEqual({ runId: "", seed: "" });
  const first = await openRun(store, closed("7"), systemIds);
  for (const seed of ["7", "8", null]) expect(await openRun(store, { seed, isOpen: true }, systemIds)).toEqual(first);
});
