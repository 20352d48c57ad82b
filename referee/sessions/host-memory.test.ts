import { beforeEach, describe, expect, it } from "vitest";
import { chess } from "#shared/games/chess.ts";
import type { Game } from "#shared/games/game.ts";
import { rps } from "#shared/games/rps.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { createHost } from "./host.ts";
import { inMemoryHost } from "./testing/session-host.ts";

const MINUTE = 60_000;
let now = Date.now();
let { clock, db, store, host } = inMemoryHost(() => now);

beforeEach(() => {
  now = Date.now();
  ({ clock, db, store, host } = inMemoryHost(() => now));
});

const newSession = (given: unknown) => {
  const game = given as Game;
  const seats = game.roles.map((role) => ({ role, agentId: role, tokenHash: role }));
  return { game, options: game.options.parse({}), seed: "s", seats, actedBy: "seats" } as const;
};
const begin = async (game: unknown): Promise<string> => (await host.create(newSession(game))).id;
const submit = (id: string, role: string, action: unknown, expectedTick: number | null = null) =>
  host.submit(id, { role, action, expectedTick });

describe("a session that was replayed from its log", () => {
  const snapshotOf = (id: string) => db.prepare("SELECT tick FROM sessions WHERE session_id = ?").get(id);
  const reload = (): void => {
    now += 10 * MINUTE;
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(0);
  };

  it("is written to its snapshot after the first action", async () => {
    const id = await begin(chess);
    reload();
    await submit(id, "white", "e2e4", 0);
    expect(snapshotOf(id)).toEqual({ tick: 1 });
    await submit(id, "black", "e7e5", 1); // within a second of the previous action
    expect(snapshotOf(id)).toEqual({ tick: 1 });
  });

  it("is neither loaded nor held in memory by the search for idle sessions", async () => {
    const id = await begin(chess);
    reload();
    await submit(id, "white", "e2e4", 0);
    for (let minute = 0; minute < 6; minute++) {
      now += MINUTE;
      await host.expireIdle(9 * MINUTE);
    }
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(0);
    await host.expireIdle(9 * MINUTE);
    expect(host.loaded()).toBe(0);
    expect(host.read(id)?.session.status).toBe("active");
  });
});

it("a session whose entry is being written is not idle", async () => {
  const id = await begin(chess);
  now += 60 * MINUTE;
  const acted = submit(id, "white", "e2e4", 0);
  await host.expireIdle(30 * MINUTE);
  await acted;
  expect(host.read(id)?.session).toMatchObject({ status: "active", tick: 1 });
});

it("an action between the commit of a session and its acknowledgement is not lost", async () => {
  const acknowledge = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<string>();
  const slowHost = createHost(
    {
      ...store,
      log: {
        ...store.log,
        async append(appends, alongside) {
          const recorded = await store.log.append(appends, alongside);
          committed.resolve(appends[0]?.stream ?? "");
          if (recorded[0]?.type === "created") await acknowledge.promise;
          return recorded;
        },
      },
    },
    clock,
    systemIds,
  );
  const created = slowHost.create(newSession(chess));
  const id = await committed.promise;
  const move = (role: string, action: string, expectedTick: number) =>
    slowHost.submit(id, { role, action, expectedTick });
  expect(await move("white", "e2e4", 0)).toMatchObject({ ok: true });
  acknowledge.resolve();
  await created;
  expect(slowHost.read(id)?.session.tick).toBe(1);
  expect(await move("black", "e7e5", 1)).toMatchObject({ ok: true, value: { tick: 2 } });
});

describe("a listener that throws", () => {
  it("does not fail the action, and the other listeners are called", async () => {
    const calls: string[] = [];
    const errors: string[] = [];
    const failing = (name: string) => () => {
      calls.push(name);
      throw new Error(`${name} failed`);
    };
    const catchingHost = createHost(store, clock, systemIds, failing("onCommit"), (thrown) =>
      errors.push((thrown as Error).message),
    );
    const { id } = await catchingHost.create(newSession(rps));
    catchingHost.watch(id, failing("first"));
    catchingHost.watch(id, () => calls.push("second"));
    const next = catchingHost.nextCommit(id, new AbortController().signal);
    const acted = await catchingHost.submit(id, { role: "player_1", action: "rock", expectedTick: null });
    expect(acted).toMatchObject({ ok: true, value: { tick: 1 } });
    await next;
    expect(calls).toEqual(["onCommit", "first", "second", "onCommit"]);
    expect(errors).toEqual(["onCommit failed", "first failed", "onCommit failed"]);
  });

  it("ends the process if the host has no function for such errors", async () => {
    const deferred: (() => void)[] = [];
    const failing = (): void => {
      throw new Error("onCommit failed");
    };
    const throwingHost = createHost(store, { ...clock, defer: (run) => void deferred.push(run) }, systemIds, failing);
    expect(await throwingHost.create(newSession(rps))).toMatchObject({ status: "active" });
    expect(deferred).toHaveLength(1);
    expect(deferred[0]).toThrow("onCommit failed");
  });
});

it("a watcher that is removed between two failed writes of a session does not keep it in memory", async () => {
  const failures = [Promise.withResolvers<never>(), Promise.withResolvers<never>()];
  let appends = 0;
  const append = () => failures[appends++]?.promise ?? Promise.resolve([]);
  const failingHost = createHost({ ...store, log: { ...store.log, append } }, clock, systemIds);
  const id = await begin(rps);
  const ticks: number[] = [];
  const unwatch = failingHost.watch(id, ({ session }) => ticks.push(session.tick));
  const submissions = rps.roles.map((role) => failingHost.submit(id, { role, action: "rock", expectedTick: null }));
  const failWrite = async (index: number): Promise<void> => {
    failures[index]?.reject(new Error("the disk is full"));
    await expect(submissions[index]).rejects.toThrow("the disk is full");
  };
  await failWrite(0);
  unwatch();
  await failWrite(1);
  failingHost.read(id);
  failingHost.forgetIdle(-1);
  expect(failingHost.loaded()).toBe(0);
  expect(ticks).toEqual([]);
});
