import { beforeEach, describe, expect, it, vi } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { codenames } from "#shared/games/codenames.ts";
import type { Game } from "#shared/games/game.ts";
import { rps } from "#shared/games/rps.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { createHost } from "./host.ts";
import type { Access } from "./session-store.ts";
import { inMemoryHost } from "./testing/session-host.ts";

const MINUTE = 60_000;
let now = Date.now();
let { clock, db, store, host } = inMemoryHost(() => now);
let sessions = 0;

beforeEach(() => {
  now = Date.now();
  ({ clock, db, store, host } = inMemoryHost(() => now));
});

async function begin(game: unknown, access: Partial<Access> = { actedBy: "seats" }): Promise<string> {
  const number = ++sessions;
  const { roles, options } = game as Game;
  const seats = roles.map((role) => ({ role, agentId: `${role} ${number}`, tokenHash: `${role} ${number}` }));
  const session = await host.create({ game: game as Game, options: options.parse({}), seed: "s", seats, ...access });
  return session.id;
}
const submit = (id: string, role: string, action: unknown, expectedTick: number | null = null) =>
  host.submit(id, { role, action, expectedTick });

describe("memory", () => {
  it("evicts an idle session, and replay restores the same state", async () => {
    const id = await begin(chess);
    await submit(id, "white", "e2e4", 0);
    const before = host.read(id);
    now += 10 * MINUTE;
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(0);
    const after = host.read(id);
    expect(after).not.toBe(before);
    expect([after?.session, after?.rows, after?.access]).toEqual([before?.session, before?.rows, before?.access]);
    expect(await submit(id, "black", "e7e5", 1)).toMatchObject({ ok: true, value: { tick: 2 } });
  });

  it("keeps sessions that were used recently, are watched, are being written or are played by a driver", async () => {
    const [written, touched, watched, driven] = [
      await begin(rps),
      await begin(rps),
      await begin(rps),
      await begin(rps, { actedBy: "driver" }),
    ];
    const unwatch = host.watch(watched, () => {});
    now += 10 * MINUTE;
    host.read(touched);
    const writing = submit(written, "player_1", "rock");
    now += 4 * MINUTE;
    host.forgetIdle(3 * MINUTE + 59_000);
    expect(host.loaded()).toBe(3); // `touched` was idle and is neither watched nor being written
    await writing;
    now += 10 * MINUTE;
    unwatch();
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(1);
    await submit(driven, "player_1", "rock");
    await submit(driven, "player_2", "paper");
    now += 10 * MINUTE;
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(0);
  });
});

it("`forget` evicts a session immediately, unless it is watched or being written", async () => {
  const [done, watched, written] = [
    await begin(rps, { actedBy: "driver" }),
    await begin(rps, { actedBy: "driver" }),
    await begin(rps, { actedBy: "driver" }),
  ];
  host.watch(watched, () => {});
  const writing = submit(written, "player_1", "rock");
  for (const id of [done, watched, written, "no such session"]) host.forget(id);
  expect(host.loaded()).toBe(2);
  await writing;
  expect([done, written].map((id) => host.read(id)?.session.tick)).toEqual([0, 1]);
});

it("a session whose creation could not be written does not exist, and no listener is called", async () => {
  const notified: string[] = [];
  const failingHost = createHost(store, clock, systemIds, ({ id }) => notified.push(id));
  const createdIds: string[] = [];
  const broken = (id: string) => {
    createdIds.push(id);
    return [{ sql: "INSERT INTO nowhere VALUES (1)", parameters: [] }];
  };
  const seats = rps.roles.map((role) => ({ role, agentId: role, tokenHash: role }));
  const options = rps.options.parse({});
  const creation = failingHost.create({ game: rps as never, options, seed: "s", seats, alongside: broken });
  await expect(creation).rejects.toThrow("nowhere");
  expect([createdIds.map(failingHost.read), failingHost.loaded(), notified]).toEqual([[null], 0, []]);
});

describe("expiry", () => {
  it("ends only sessions in which no seat has acted", async () => {
    const [idle, active, driven] = [await begin(chess), await begin(chess), await begin(rps, { actedBy: "driver" })];
    const terminations: string[] = [];
    host.watch(idle, ({ session }) => terminations.push(session.termination ?? ""));
    now += 60 * MINUTE;
    await submit(active, "white", "e2e4", 0);
    await host.expireIdle(30 * MINUTE);
    expect([idle, active, driven].map((id) => host.read(id)?.session.termination)).toEqual(["expired", null, null]);
    expect(host.read(idle)?.rows.at(-1)?.type).toBe("expired");
    expect(terminations).toEqual(["expired"]);
    expect(await submit(idle, "white", "e2e4", 0)).toMatchObject({ ok: false, error: { code: "SESSION_OVER" } });
    await host.expireIdle(30 * MINUTE); // expires no session twice
    expect(host.read(idle)?.rows).toHaveLength(2);
  });

  it("ends the other sessions if one cannot be read, and reports that one once", async () => {
    const before = await begin(rps);
    const unreadable = await begin(rps);
    const after = await begin(rps);
    db.exec("DROP TRIGGER log_no_update");
    db.prepare(
      "UPDATE log SET body = replace(body, 'rps.v1', 'go.v9') WHERE stream = (SELECT number FROM streams WHERE name = ?)",
    ).run(unreadable);
    const reports: string[] = [];
    const restarted = createHost(store, clock, systemIds);
    for (let round = 0; round < 2; round++) {
      now += 60 * MINUTE;
      await restarted.expireIdle(30 * MINUTE, (id, thrown) => reports.push(`${id}: ${(thrown as Error).message}`));
    }
    expect([before, after].map((id) => restarted.read(id)?.session.termination)).toEqual(["expired", "expired"]);
    expect(reports).toEqual([expect.stringMatching(`^${unreadable}: log of session ${unreadable}, entry 0: `)]);
  });
});

describe("nextCommit", () => {
  it("resolves with the next commit of its session or rejects when aborted, and keeps no session in memory", async () => {
    const [one, other] = [await begin(rps), await begin(rps)];
    const aborting = new AbortController();
    const settled: string[] = [];
    const next = host.nextCommit(one, aborting.signal).then(() => settled.push("one"));
    const aborted = host.nextCommit(other, aborting.signal).catch(({ name }) => settled.push(name));
    host.forgetIdle(-1);
    expect(host.loaded()).toBe(0);
    await submit(one, "player_1", "rock");
    await next;
    aborting.abort();
    await aborted;
    expect(settled).toEqual(["one", "AbortError"]);
  });

  it("can be awaited for any number of games without a warning about a memory leak", async () => {
    const warned = vi.spyOn(process, "emitWarning");
    const aborting = new AbortController();
    const waits = Array.from({ length: 100 }, (_, game) => host.nextCommit(`game ${game}`, aborting.signal));
    aborting.abort();
    await Promise.allSettled(waits);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });
});

describe("since", () => {
  it("returns the session after each entry that follows an entry of the log", async () => {
    const id = await begin(chess);
    for (const [tick, move] of ["e2e4", "e7e5", "g1f3"].entries()) {
      await submit(id, tick % 2 ? "black" : "white", move, tick);
    }
    expect(host.since(id, 1).map(({ seq, session }) => [seq, session.tick])).toEqual([
      [2, 2],
      [3, 3],
    ]);
    expect(host.since(id, 3)).toEqual([]);
    expect(host.since(id, 99)).toEqual([]);
    expect(host.since("no such session", 0)).toEqual([]);
  });
});

describe("submit", () => {
  it("rejects a value that is not an action of the game as illegal, after all other checks", async () => {
    const id = await begin(rps);
    const foreign = [undefined, null, 7, "lizard", {}, ["rock"], { choice: "rock" }];
    for (const action of foreign) {
      expect(await submit(id, "player_1", action)).toMatchObject({ ok: false, error: { code: "ILLEGAL_ACTION" } });
    }
    expect(await submit(id, "player_1", {}, -1)).toMatchObject({ ok: false, error: { code: "CONFLICT" } });
    await submit(id, "player_1", "rock");
    expect(await submit(id, "player_1", {})).toMatchObject({ ok: false, error: { code: "ALREADY_ACTED" } });
    expect(host.read(id)?.rows).toHaveLength(2);
  });

  it("accepts an action for drivers only from the driver", async () => {
    const id = await begin(codenames);
    const [role = ""] = codenames.toAct(host.read(id)?.session.state as never);
    const skip = { role, action: { type: "skip", reason: "no_answer" }, expectedTick: 0 };
    for (const submission of [skip, { ...skip, byDriver: false }]) {
      expect(await host.submit(id, submission)).toMatchObject({ ok: false, error: { code: "ILLEGAL_ACTION" } });
    }
    expect(host.read(id)?.rows).toHaveLength(1);
    expect(await host.submit(id, { ...skip, byDriver: true })).toMatchObject({ ok: true, value: { tick: 1 } });
  });

  it("leaves the session and its watchers unchanged if the entry cannot be written", async () => {
    const id = await begin(chess);
    const ticks: number[] = [];
    host.watch(id, ({ session }) => ticks.push(session.tick));
    const broken = () => [{ sql: "INSERT INTO nowhere VALUES (1)", parameters: [] }];
    const submitted = host.submit(id, { role: "white", action: "e2e4", expectedTick: 0, alongside: broken });
    await expect(submitted).rejects.toThrow("an entry was not written");
    expect(host.read(id)?.session.tick).toBe(0);
    expect(await submit(id, "white", "d2d4", 0)).toMatchObject({ ok: true });
    expect(ticks).toEqual([1]);
  });

  it("does not keep a session in memory after failed writes, once its watcher is removed", async () => {
    const id = await begin(rps);
    const ticks: number[] = [];
    const unwatch = host.watch(id, ({ session }) => ticks.push(session.tick));
    const broken = () => [{ sql: "INSERT INTO nowhere VALUES (1)", parameters: [] }];
    const submissions = ["player_1", "player_2"].map((role) =>
      host.submit(id, { role, action: "rock", expectedTick: null, alongside: broken }),
    );
    expect((await Promise.allSettled(submissions)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await submit(id, "player_1", "rock");
    unwatch();
    await submit(id, "player_2", "paper");
    expect(ticks).toEqual([1]);
    expect(host.read(id)?.session).toMatchObject({ tick: 2, status: "completed" });
    now += 10 * MINUTE;
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(0);
  });
});
