import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { DatabaseUnavailable, type Member } from "../shared-run/run-database.ts";
import { createMembers, type Members } from "./members.ts";

const [A, B, C] = ["a", "b", "c"].map((id): Member => ({ managerId: id, url: `http://${id}` })) as [
  Member,
  Member,
  Member,
];
const KEYS = Array.from({ length: 60 }, (_, index) => `inbox/P${index}`);

/** The table of managers with the times of their heartbeats. Managers in `cut` do not reach it. */
class Table {
  readonly #clock: ManualClock;
  readonly #seenAt = new Map<Member, number>();
  readonly cut = new Set<Member>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  connectionOf(self: Member) {
    const reach = (): void => {
      if (this.cut.has(self)) throw new DatabaseUnavailable("cut");
    };
    return {
      heartbeat: async () => {
        reach();
        this.#seenAt.set(self, this.#clock.now());
        const alive = [...this.#seenAt].filter(([, at]) => this.#clock.now() - at < 5_000);
        return alive.map(([member]) => member).sort((a, b) => (a.managerId < b.managerId ? -1 : 1));
      },
      leave: async () => {
        reach();
        this.#seenAt.delete(self);
      },
    };
  }
}

let clock: ManualClock;
let table: Table;
beforeEach(() => {
  clock = manualClock();
  table = new Table(clock);
});

async function join(self: Member): Promise<Members> {
  const isReady = async (member: Member): Promise<boolean> => !table.cut.has(member);
  const members = await createMembers({ database: table.connectionOf(self), self, clock, isReady });
  onTestFinished(async () => {
    const stopped = members.stop();
    await clock.advance(1_000);
    await stopped;
  });
  return members;
}

const ownersOf = (members: Members) => KEYS.map((key) => members.ownerOf(key)?.managerId);
const mineOf = (members: Members) => KEYS.filter((key) => members.isMine(key));

describe("members", () => {
  it("agree on the home of each key a second after one has joined", async () => {
    const [a, b, c] = [await join(A), await join(B), await join(C)];
    await clock.advance(1_000);
    expect(new Set(ownersOf(a))).toEqual(new Set(["a", "b", "c"]));
    expect(ownersOf(b)).toEqual(ownersOf(a));
    expect([...mineOf(a), ...mineOf(b), ...mineOf(c)].sort()).toEqual([...KEYS].sort());
  });

  it("take over the keys of a manager that leaves", async () => {
    const [a, b] = [await join(A), await join(B)];
    await clock.advance(1_000);
    expect(mineOf(a).length).toBeLessThan(KEYS.length);
    const left = b.stop();
    await clock.advance(1_000);
    await left;
    expect(mineOf(a)).toEqual(KEYS);
    expect(mineOf(b)).toEqual([]);
  });

  it("a manager that is cut off has no keys after four seconds, before the others take them over", async () => {
    const [a, b] = [await join(A), await join(B)];
    await clock.advance(1_000);
    const before = mineOf(b);
    table.cut.add(B);
    await clock.advance(3_999);
    expect(mineOf(b)).toEqual(before);
    let changes = 0;
    b.onChange(() => changes++);
    await clock.advance(1);
    expect(mineOf(b)).toEqual([]);
    expect(changes).toBeGreaterThan(0);
    expect(mineOf(a)).not.toEqual(KEYS);
    await clock.advance(2_000);
    expect(mineOf(a)).toEqual(KEYS);
    expect(ownersOf(b)).toEqual(ownersOf(a));
    table.cut.delete(B);
    await clock.advance(1_000);
    expect(mineOf(b)).toEqual(before);
  });

  it("keep the owners of inboxes while no manager reaches the database", async () => {
    const [a, b] = [await join(A), await join(B)];
    await clock.advance(1_000);
    const before = ownersOf(a);
    table.cut.add(A).add(B);
    await clock.advance(20_000);
    expect(mineOf(a)).toEqual([]);
    expect([ownersOf(a), ownersOf(b)]).toEqual([before, before]);
  });

  it("a manager that was stopped for longer has no keys when it continues", async () => {
    const a = await join(A);
    let elapsed = 0;
    const stopped: ManualClock = { ...clock, monotonic: () => clock.monotonic() + elapsed };
    const b = await createMembers({
      database: table.connectionOf(B),
      self: B,
      clock: stopped,
      isReady: async () => true,
    });
    onTestFinished(async () => {
      const left = b.stop();
      await clock.advance(1_000);
      await left;
    });
    expect(mineOf(b).length).toBeGreaterThan(0);
    elapsed = 10_000;
    expect(mineOf(b)).toEqual([]);
    expect(mineOf(a)).toEqual(KEYS);
  });

  it("take over the keys of an excluded manager at once, until it has another id", async () => {
    const [a, b] = [await join(A), await join(B)];
    await clock.advance(1_000);
    b.exclude("b");
    expect(mineOf(b).length).toBeGreaterThan(0);
    a.exclude("b");
    expect(mineOf(a)).toEqual(KEYS);
    await clock.advance(2_000);
    expect(mineOf(a)).toEqual(KEYS);
  });

  it("give an excluded manager its keys again if it still sends heartbeats six seconds later", async () => {
    const [a, b] = [await join(A), await join(B)];
    await clock.advance(1_000);
    a.exclude("b");
    await clock.advance(5_000);
    expect(mineOf(a)).toEqual(KEYS);
    let changes = 0;
    a.onChange(() => changes++);
    await clock.advance(1_000);
    expect(changes).toBe(1);
    expect(ownersOf(a)).toEqual(ownersOf(b));
    expect(mineOf(a).length).toBeLessThan(KEYS.length);
  });

  it("keep an excluded manager out that sends no more heartbeats", async () => {
    const [a, b] = [await join(A), await join(B)];
    await clock.advance(1_000);
    table.cut.add(B); // its heartbeats end, as those of a killed process
    a.exclude("b");
    let changes = 0;
    a.onChange(() => changes++);
    await clock.advance(10_000);
    expect(changes).toBe(0);
    expect(mineOf(a)).toEqual(KEYS);
    expect(mineOf(b)).toEqual([]);
  });

  it("reject if the first heartbeat fails", async () => {
    table.cut.add(A);
    await expect(join(A)).rejects.toThrow(DatabaseUnavailable);
  });
});
