import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ok } from "#shared/lib/result.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import { openLeague, registered } from "../store/testing/ledger.ts";
import type { CommitFate } from "./testing/model-connection.ts";
import { enterNext, entrantsAt, TestedLedgers, type TestedManager } from "./testing/tested-ledgers.ts";

let ledgers: TestedLedgers;
let a: TestedManager;
let b: TestedManager;

const execute: TestedLedgers["execute"] = (manager, decide) => ledgers.execute(manager, decide);

beforeEach(async () => {
  ledgers = new TestedLedgers();
  a = await ledgers.start();
  b = await ledgers.start();
});
afterEach(() => ledgers.stop());

describe("a shared ledger without its database", () => {
  beforeEach(async () => {
    await execute(a, openLeague("first"));
  });

  test.each<CommitFate>(["rolled back", "lost before", "lost after", "lost and made late"])(
    "answers a command once when its commit is %s",
    async (fate) => {
      ledgers.run.fates.push(fate);
      expect(await execute(a, enterNext())).toEqual(ok("P1"));
      expect(await execute(b, enterNext())).toEqual(ok("P2"));
      expect(ledgers.newest()).toBe(3);
      await ledgers.clock.advance(100);
      expect(entrantsAt(a)).toEqual(["P1", "P2"]);
      expect(a.commits.flatMap(({ events }) => events)).toHaveLength(3);
      expect([a.fatal, a.ledger.state]).toEqual([[], await ledgers.storedState()]);
    },
  );

  test("applies the commits of others that it has read in a transaction that failed", async () => {
    await ledgers.clock.advance(100);
    ledgers.run.fates.push("made", "rolled back");
    await ledgers.settled(Promise.all([a.ledger.execute(enterNext()), b.ledger.execute(enterNext())]));
    await ledgers.clock.advance(100);
    for (const { ledger, commits } of [a, b]) {
      expect(commits.flatMap(({ events }) => events)).toHaveLength(3);
      expect(ledger.state).toEqual(await ledgers.storedState());
    }
  });

  test("lets commands wait while the server restarts, and executes them once", async () => {
    await ledgers.run.cut();
    const answers = Promise.all([a.ledger.execute(enterNext()), b.ledger.execute(enterNext())]);
    await ledgers.clock.advance(2_000);
    expect([a.ledger.isAvailable(), entrantsAt(a), ledgers.newest()]).toEqual([false, [], 1]);
    await ledgers.run.restore();
    expect((await ledgers.settled(answers)).map((answer) => answer.ok && answer.value).sort()).toEqual(["P1", "P2"]);
    expect([a.ledger.isAvailable(), ledgers.newest()]).toEqual([true, 3]);
  });

  test("rejects commands that have waited five seconds with StoreBusy, and is available again without a command", async () => {
    await ledgers.run.cut();
    const outcomes: unknown[] = [];
    const early = a.ledger.execute(enterNext()).catch((thrown) => outcomes.push(thrown));
    await ledgers.clock.advance(4_900);
    expect(outcomes).toEqual([]);
    const late = a.ledger.execute(enterNext());
    await ledgers.clock.advance(1_600);
    await early;
    expect(outcomes).toEqual([expect.any(StoreBusy)]);
    await ledgers.run.restore();
    expect(await ledgers.settled(late)).toEqual(ok("P1"));
    await ledgers.run.cut();
    await expect(execute(a, enterNext())).rejects.toThrow(StoreBusy);
    await ledgers.run.restore();
    await ledgers.clock.advance(1_500);
    expect([a.ledger.isAvailable(), ledgers.newest(), entrantsAt(a)]).toEqual([true, 2, ["P1"]]);
  });

  test("rejects commands that have waited five seconds for a database that does not answer", async () => {
    ledgers.run.silence(20_000);
    const outcome = await ledgers.settled(
      a.ledger.execute(enterNext()).catch((thrown) => [thrown, ledgers.clock.monotonic()]),
    );
    expect(outcome).toEqual([expect.any(StoreBusy), expect.closeTo(5_250, -3)]);
    expect(a.ledger.isAvailable()).toBe(false);
  });

  test("is given another manager's lock after two seconds if that manager has stopped in a transaction", async () => {
    const stopped = await ledgers.run.connect();
    let isDecided = false;
    const transaction = stopped.transact(0, () => {
      ledgers.run.silence(3_000);
      isDecided = true;
      return null;
    });
    await ledgers.clock.advance(10);
    expect(isDecided).toBe(true);
    const answers = Promise.allSettled([transaction, a.ledger.execute(enterNext())]);
    const [outcome, entry] = await ledgers.settled(answers);
    expect(outcome).toMatchObject({ status: "rejected", reason: { name: "CommitUnknown" } });
    expect(entry).toMatchObject({ status: "fulfilled", value: ok("P1") });
  });

  test("stops without the database, and then rejects commands", async () => {
    await ledgers.run.cut();
    const waiting = a.ledger.execute(enterNext()).catch((thrown: unknown) => thrown);
    await ledgers.clock.advance(100);
    await ledgers.settled(a.ledger.stop());
    expect(await waiting).toBeInstanceOf(StoreBusy);
    await ledgers.run.restore();
    await ledgers.settled(b.ledger.stop());
    await ledgers.clock.advance(20_000);
    expect(ledgers.clock.timers()).toBe(0);
  });
});

describe("a shared ledger that cannot continue", () => {
  test("reports an event that this version cannot read", async () => {
    await execute(a, openLeague("first"));
    const version = 1;
    const commit = {
      id: "c",
      at: ledgers.clock.iso(),
      writes: [],
      jobs: { added: [], ended: [] },
      appends: [{ stream: "league:first", expectedVersion: version, events: [{ type: "frozen", body: '{"v":2}' }] }],
    };
    await ledgers.settled(b.database.transact(0, () => commit));
    await ledgers.clock.advance(100);
    const message = "event 2 of league:first cannot follow";
    expect(a.fatal.map((error) => error.message)).toEqual([expect.stringContaining(message)]);
    expect(a.fatal[0]?.message).toContain("Another manager has committed it: run the same version on all managers");
    expect(entrantsAt(a)).toEqual([]);
    const thrown = await execute(a, () =>
      ok({ agentEvents: [{ agentId: "P1", event: registered("P1") }], reply: null }),
    ).catch((error: Error) => error.message);
    expect(thrown).toContain(message);
    expect(ledgers.newest()).toBe(2);
  });

  test("reports an append that does not follow, and rejects its commands", async () => {
    await execute(a, openLeague("first"));
    // A writer that does not take the lock of the run.
    await ledgers.run.server.store.commit(
      [{ stream: "league:first", expectedVersion: 1, events: [{ type: "started", body: "{}" }] }],
      [],
      ledgers.clock.iso(),
    );
    ledgers.run.server.db.exec("UPDATE commits SET last_row = last_row + 1");
    await expect(execute(a, enterNext())).rejects.toMatchObject({ name: "VersionConflict" });
    expect(a.fatal).toMatchObject([{ name: "VersionConflict" }]);
  });
});
