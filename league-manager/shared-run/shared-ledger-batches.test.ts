import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ok } from "#shared/lib/result.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import type { Decide } from "../ledger.ts";
import { openLeague } from "../store/testing/ledger.ts";
import { CommitUnknown } from "./run-database.ts";
import { enterNext, entrantsAt, TestedLedgers, type TestedManager } from "./testing/tested-ledgers.ts";

let ledgers: TestedLedgers;
let a: TestedManager;

beforeEach(async () => {
  ledgers = new TestedLedgers();
  a = await ledgers.start();
  await ledgers.execute(a, openLeague("first"));
});
afterEach(() => ledgers.stop());

/** Enters the next player, with a session log of a megabyte. */
const enterWithLog =
  (matchId: string): Decide<string> =>
  (state, at) => {
    const decision = enterNext()(state, at);
    const log = ["x".repeat(500_000), "y".repeat(500_000)];
    const write = { type: "session_log", leagueId: "first", matchId, epoch: 1, seed: "s", log } as const;
    return decision.ok ? ok({ ...decision.value, writes: [write] }) : decision;
  };

const players = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `P${n + 1}`);

describe("a batch of a shared ledger", () => {
  test("has session logs of at most some megabytes, and leaves the other commands to the next batch, in order", async () => {
    const before = a.commits.length;
    const answers = players(20).map((id) => a.ledger.execute(enterWithLog(id)));
    expect(await ledgers.settled(Promise.all(answers))).toEqual(players(20).map((id) => ok(id)));
    expect(a.commits.slice(before).map(({ events }) => events.length)).toEqual([8, 8, 4]);
  });

  test("whose commit is unknown answers its commands once, and those that were left to the next batch", async () => {
    ledgers.run.fates.push("lost after", "lost before");
    const answers = players(12).map((id) => a.ledger.execute(enterWithLog(id)));
    expect(await ledgers.settled(Promise.all(answers))).toEqual(players(12).map((id) => ok(id)));
    expect([entrantsAt(a), ledgers.newest()]).toEqual([players(12), 3]);
  });

  test("is committed if its follow-ups cannot be found", async () => {
    const b = await ledgers.start({
      followUps: () => {
        throw new Error("our bug");
      },
    });
    expect(await ledgers.execute(b, enterNext())).toEqual(ok("P1"));
    expect([b.fatal, ledgers.newest()]).toEqual([[], 2]);
  });
});

test("a command that becomes late while its commit is unknown is rejected", async () => {
  const { transact } = a.database;
  const sinceMs = ledgers.clock.monotonic();
  Object.assign(a.database, {
    async transact(...[after, decide]: Parameters<typeof transact>) {
      if (a.ledger.commitNumber === 1) return transact(after, decide);
      // The connection is lost right after the command has become late, between two looks for late commands.
      await transact(after, (later) => decide(later) && null);
      await ledgers.clock.pause(sinceMs + 5_002 - ledgers.clock.monotonic());
      throw new CommitUnknown("the connection was lost");
    },
  });
  const first = a.ledger.execute(enterNext());
  await ledgers.clock.advance(1);
  const late = a.ledger.execute(enterNext());
  expect(await ledgers.settled(first)).toEqual(ok("P1"));
  await expect(ledgers.settled(late)).rejects.toThrow(StoreBusy);
});
