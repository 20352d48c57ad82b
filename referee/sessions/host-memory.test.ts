import { beforeEach, describe, expect, it } from "vitest";
import { chess } from "#shared/games/chess.ts";
import type { Game } from "#shared/games/game.ts";
import { rps } from "#shared/games/rps.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { createHost } from "./host.ts";
import { hostInMemory } from "./testing/session-host.ts";

const MINUTE = 60_000;
let now = Date.now();
let { clock, db, store, host } = hostInMemory(() => now);

beforeEach(() => {
  now = Date.now();
  ({ clock, db, store, host } = hostInMemory(() => now));
});

const newSession = (given: unknown) => {
  const game = given as Game;
  const seats = game.roles.map((role) => ({ role, agentId: role, tokenHash: role }));
  return { game, options: game.options.parse({}), seed: "s", seats, actedBy: "seats" } as const;
};
const begin = async (game: unknown): Promise<string> => (await host.create(newSession(game))).id;
const submit = (id: string, role: string, action: unknown, expectedTick: number | null = null) =>
  host.submit(id, { role, action, expectedTick });

describe("after a session has been read again from its log", () => {
  const kept = (id: string) => db.prepare("SELECT tick FROM sessions WHERE session_id = ?").get(id);
  const reload = (): void => {
    now += 10 * MINUTE;
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(0);
  };

  it("its first action is in the database's copy at once", async () => {
    const id = await begin(chess);
    reload();
    await submit(id, "white", "e2e4", 0);
    expect(kept(id)).toEqual({ tick: 1 });
    await submit(id, "black", "e7e5", 1); // within a second of the one before
    expect(kept(id)).toEqual({ tick: 1 });
  });

  it("looking for idle sessions neither loads it nor keeps it in memory", async () => {
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

it("an action that comes between a session's commit and its acknowledgement is kept", async () => {
  const acknowledge = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<string>();
  const late = createHost(
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
  const created = late.create(newSession(chess));
  const id = await committed.promise;
  const move = (role: string, action: string, expectedTick: number) => late.submit(id, { role, action, expectedTick });
  expect(await move("white", "e2e4", 0)).toMatchObject({ ok: true });
  acknowledge.resolve();
  await created;
  expect(late.read(id)?.session.tick).toBe(1);
  expect(await move("black", "e7e5", 1)).toMatchObject({ ok: true, value: { tick: 2 } });
});

describe("a listener that throws", () => {
  it("neither fails the action nor prevents the other listeners from being called", async () => {
    const told: string[] = [];
    const errors: string[] = [];
    const failing = (who: string) => () => {
      told.push(who);
      throw new Error(`${who} failed`);
    };
    const careful = createHost(store, clock, systemIds, failing("onCommit"), (thrown) =>
      errors.push((thrown as Error).message),
    );
    const { id } = await careful.create(newSession(rps));
    careful.watch(id, failing("first"));
    careful.watch(id, () => told.push("second"));
    const woken = careful.nextCommit(id, new AbortController().signal);
    const acted = await careful.submit(id, { role: "player_1", action: "rock", expectedTick: null });
    expect(acted).toMatchObject({ ok: true, value: { tick: 1 } });
    await woken;
    expect(told).toEqual(["onCommit", "first", "second", "onCommit"]);
    expect(errors).toEqual(["onCommit failed", "first failed", "onCommit failed"]);
  });

  it("ends the process if the host is given no function for such errors", async () => {
    const deferred: (() => void)[] = [];
    const failing = (): void => {
      throw new Error("onCommit failed");
    };
    const careless = createHost(store, { ...clock, defer: (run) => void deferred.push(run) }, systemIds, failing);
    expect(await careless.create(newSession(rps))).toMatchObject({ status: "active" });
    expect(deferred).toHaveLength(1);
    expect(deferred[0]).toThrow("onCommit failed");
  });
});

it("a watcher that leaves between two losses of one session does not keep it in memory", async () => {
  const losses = [Promise.withResolvers<never>(), Promise.withResolvers<never>()];
  let appends = 0;
  const append = () => losses[appends++]?.promise ?? Promise.resolve([]);
  const lossy = createHost({ ...store, log: { ...store.log, append } }, clock, systemIds);
  const id = await begin(rps);
  const told: number[] = [];
  const leave = lossy.watch(id, ({ session }) => told.push(session.tick));
  const lost = rps.roles.map((role) => lossy.submit(id, { role, action: "rock", expectedTick: null }));
  const lose = async (index: number): Promise<void> => {
    losses[index]?.reject(new Error("the disk is full"));
    await expect(lost[index]).rejects.toThrow("the disk is full");
  };
  await lose(0);
  leave();
  await lose(1);
  lossy.read(id);
  lossy.forgetIdle(-1);
  expect(lossy.loaded()).toBe(0);
  expect(told).toEqual([]);
});
