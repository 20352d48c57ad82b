import { beforeEach, describe, expect, it, vi } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { codenames } from "#shared/games/codenames.ts";
import type { Game } from "#shared/games/game.ts";
import { rps } from "#shared/games/rps.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { createHost } from "./host.ts";
import type { Access } from "./session-store.ts";
import { hostInMemory } from "./testing/session-host.ts";

const MINUTE = 60_000;
let now = Date.now();
let { clock, db, store, host } = hostInMemory(() => now);
let sessions = 0;

beforeEach(() => {
  now = Date.now();
  ({ clock, db, store, host } = hostInMemory(() => now));
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
  it("lets go of a session that nobody has touched, which comes back as it was", async () => {
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

  it("keeps what was touched lately, what is watched, what is being written and what a driver plays", async () => {
    const [quiet, touched, watched, driven] = [
      await begin(rps),
      await begin(rps),
      await begin(rps),
      await begin(rps, { actedBy: "driver" }),
    ];
    const leave = host.watch(watched, () => {});
    now += 10 * MINUTE;
    host.read(touched);
    const writing = submit(quiet, "player_1", "rock");
    now += 4 * MINUTE;
    host.forgetIdle(3 * MINUTE + 59_000);
    expect(host.loaded()).toBe(3); // touched and nobody's: gone
    await writing;
    now += 10 * MINUTE;
    leave();
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(1);
    await submit(driven, "player_1", "rock");
    await submit(driven, "player_2", "paper");
    now += 10 * MINUTE;
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(0);
  });
});

it("lets go of a session at once when its driver is done, unless it is watched or being written", async () => {
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

it("a session that the log did not take is not there, and nobody is told of it", async () => {
  const told: string[] = [];
  const silent = createHost(store, clock, systemIds, ({ id }) => told.push(id));
  const made: string[] = [];
  const broken = (id: string) => {
    made.push(id);
    return [{ sql: "INSERT INTO nowhere VALUES (1)", parameters: [] }];
  };
  const seats = rps.roles.map((role) => ({ role, agentId: role, tokenHash: role }));
  const options = rps.options.parse({});
  const lost = silent.create({ game: rps as never, options, seed: "s", seats, alongside: broken });
  await expect(lost).rejects.toThrow("nowhere");
  expect([made.map(silent.read), silent.loaded(), told]).toEqual([[null], 0, []]);
});

describe("expiry", () => {
  it("ends what nobody has acted in, and nothing else", async () => {
    const [idle, active, driven] = [await begin(chess), await begin(chess), await begin(rps, { actedBy: "driver" })];
    const told: string[] = [];
    host.watch(idle, ({ session }) => told.push(session.termination ?? ""));
    now += 60 * MINUTE;
    await submit(active, "white", "e2e4", 0);
    await host.expireIdle(30 * MINUTE);
    expect([idle, active, driven].map((id) => host.read(id)?.session.termination)).toEqual(["expired", null, null]);
    expect(host.read(idle)?.rows.at(-1)?.type).toBe("expired");
    expect(told).toEqual(["expired"]);
    expect(await submit(idle, "white", "e2e4", 0)).toMatchObject({ ok: false, error: { code: "SESSION_OVER" } });
    await host.expireIdle(30 * MINUTE); // once is enough
    expect(host.read(idle)?.rows).toHaveLength(2);
  });

  it("ends every other session when one cannot be read, and tells of that one once", async () => {
    const before = await begin(rps);
    const unreadable = await begin(rps);
    const behind = await begin(rps);
    db.exec("DROP TRIGGER log_no_update");
    db.prepare(
      "UPDATE log SET body = replace(body, 'rps.v1', 'go.v9') WHERE stream = (SELECT number FROM streams WHERE name = ?)",
    ).run(unreadable);
    const told: string[] = [];
    const restarted = createHost(store, clock, systemIds);
    for (let time = 0; time < 2; time++) {
      now += 60 * MINUTE;
      await restarted.expireIdle(30 * MINUTE, (id, thrown) => told.push(`${id}: ${(thrown as Error).message}`));
    }
    expect([before, behind].map((id) => restarted.read(id)?.session.termination)).toEqual(["expired", "expired"]);
    expect(told).toEqual([expect.stringMatching(`^${unreadable}: log of session ${unreadable}, entry 0: `)]);
  });
});

describe("nextCommit", () => {
  it("resolves with the session's own next commit, or rejects when it is left, and keeps no session in memory", async () => {
    const [one, other] = [await begin(rps), await begin(rps)];
    const leaving = new AbortController();
    const told: string[] = [];
    const next = host.nextCommit(one, leaving.signal).then(() => told.push("one"));
    const left = host.nextCommit(other, leaving.signal).catch(({ name }) => told.push(name));
    host.forgetIdle(-1);
    expect(host.loaded()).toBe(0);
    await submit(one, "player_1", "rock");
    await next;
    leaving.abort();
    await left;
    expect(told).toEqual(["one", "AbortError"]);
  });

  it("is waited for by any number of games without a warning of a leak", async () => {
    const warned = vi.spyOn(process, "emitWarning");
    const leaving = new AbortController();
    const waits = Array.from({ length: 100 }, (_, game) => host.nextCommit(`game ${game}`, leaving.signal));
    leaving.abort();
    await Promise.allSettled(waits);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });
});

describe("since", () => {
  it("gives the session after each entry behind a place in the log", async () => {
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
    expect(host.since("nobody", 0)).toEqual([]);
  });
});

describe("submit", () => {
  it("refuses what is no action of the game as illegal, after everything else has been checked", async () => {
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

  it("takes an action that is the driver's own from the driver alone", async () => {
    const id = await begin(codenames);
    const [role = ""] = codenames.toAct(host.read(id)?.session.state as never);
    const skip = { role, action: { type: "skip", reason: "no_answer" }, expectedTick: 0 };
    for (const given of [skip, { ...skip, byDriver: false }]) {
      expect(await host.submit(id, given)).toMatchObject({ ok: false, error: { code: "ILLEGAL_ACTION" } });
    }
    expect(host.read(id)?.rows).toHaveLength(1);
    expect(await host.submit(id, { ...skip, byDriver: true })).toMatchObject({ ok: true, value: { tick: 1 } });
  });

  it("an entry that the log did not take leaves the session as it was, and its watchers with it", async () => {
    const id = await begin(chess);
    const told: number[] = [];
    host.watch(id, ({ session }) => told.push(session.tick));
    const broken = () => [{ sql: "INSERT INTO nowhere VALUES (1)", parameters: [] }];
    const lost = host.submit(id, { role: "white", action: "e2e4", expectedTick: 0, alongside: broken });
    await expect(lost).rejects.toThrow("did not take an entry");
    expect(host.read(id)?.session.tick).toBe(0);
    expect(await submit(id, "white", "d2d4", 0)).toMatchObject({ ok: true });
    expect(told).toEqual([1]);
  });

  it("a watcher that leaves after such a loss holds nothing, and several losses at once are read anew once", async () => {
    const id = await begin(rps);
    const told: number[] = [];
    const leave = host.watch(id, ({ session }) => told.push(session.tick));
    const broken = () => [{ sql: "INSERT INTO nowhere VALUES (1)", parameters: [] }];
    const lost = ["player_1", "player_2"].map((role) =>
      host.submit(id, { role, action: "rock", expectedTick: null, alongside: broken }),
    );
    expect((await Promise.allSettled(lost)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await submit(id, "player_1", "rock");
    leave();
    await submit(id, "player_2", "paper");
    expect(told).toEqual([1]);
    expect(host.read(id)?.session).toMatchObject({ tick: 2, status: "completed" });
    now += 10 * MINUTE;
    host.forgetIdle(5 * MINUTE);
    expect(host.loaded()).toBe(0);
  });
});
