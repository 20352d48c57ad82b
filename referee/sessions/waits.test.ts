import { getEventListeners } from "node:events";
import { beforeEach, describe, expect, it } from "vitest";
import { chess } from "#shared/games/chess.ts";
import type { Game } from "#shared/games/game.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import type { Session } from "#shared/session/session.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost, createWaits, type SessionHost, type Waits } from "./host.ts";
import { SESSION_SCHEMA, sessionStore } from "./session-store.ts";

let host: SessionHost;
let waits: Waits;
let session: Session;
beforeEach(async () => {
  const db = openSqlite(":memory:", SESSION_SCHEMA);
  host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
  waits = createWaits(host, systemClock);
  const { roles, options } = chess as unknown as Game;
  const seats = roles.map((role) => ({ role, agentId: role, tokenHash: role }));
  session = await host.create({ game: chess as never, options: options.parse({}), seed: "s", seats, actedBy: "seats" });
});

const LONG = { timeoutMs: 3_600_000 };
const hasMoved = (now: Session): boolean => now.tick > 0;
const move = () => host.submit(session.id, { role: "white", action: "e2e4", expectedTick: 0 });

describe("a wait", () => {
  const ways: Readonly<Record<string, readonly [boolean, (abort: AbortController) => unknown]>> = {
    "its condition is met": [true, move],
    "its caller disconnects": [false, (abort) => abort.abort()],
    "the server stops": [false, () => waits.close()],
  };
  it.each(Object.keys(ways))("releases timer, listener and session when %s", async (way) => {
    const [result, end] = ways[way] as (typeof ways)[string];
    const abort = new AbortController();
    const waiting = waits.until(session, hasMoved, { ...LONG, signal: abort.signal });
    expect([waits.count(), getEventListeners(abort.signal, "abort")]).toEqual([1, [expect.any(Function)]]);
    host.forgetIdle(0);
    expect(host.loaded()).toBe(1);
    await end(abort);
    expect(await waiting).toBe(result);
    expect([waits.count(), getEventListeners(abort.signal, "abort")]).toEqual([0, []]);
    host.forgetIdle(0);
    expect(host.loaded()).toBe(0);
  });

  it("cancels its timer when the server stops", () => {
    const clock = manualClock();
    waits = createWaits(host, clock);
    void waits.until(session, hasMoved, LONG);
    expect(clock.timers()).toBe(1);
    waits.close();
    expect(clock.timers()).toBe(0);
  });

  it("ends when its time limit has passed, and not before", async () => {
    const clock = manualClock();
    waits = createWaits(host, clock);
    const waiting = waits.until(session, hasMoved, LONG);
    await clock.advance(LONG.timeoutMs - 1);
    expect(waits.count()).toBe(1);
    await clock.advance(1);
    expect(await waiting).toBe(false);
    expect(waits.count()).toBe(0);
  });

  it("ends immediately if its condition is met, its caller has disconnected or the server stops", async () => {
    const { signal } = new AbortController();
    expect(await waits.until(session, () => true, { ...LONG, signal })).toBe(true);
    expect(await waits.until(session, hasMoved, { ...LONG, signal: AbortSignal.abort() })).toBe(false);
    waits.close();
    expect(await waits.until(session, hasMoved, { ...LONG, signal })).toBe(false);
    await move();
    expect(await waits.until(host.read(session.id)?.session ?? session, hasMoved, { ...LONG, signal })).toBe(true);
    expect(waits.count()).toBe(0);
  });

  it("continues after a commit that does not meet its condition", async () => {
    const waiting = waits.until(session, ({ tick }) => tick > 1, LONG);
    await move();
    expect(waits.count()).toBe(1);
    await host.submit(session.id, { role: "black", action: "e7e5", expectedTick: 1 });
    expect(await waiting).toBe(true);
  });
});
