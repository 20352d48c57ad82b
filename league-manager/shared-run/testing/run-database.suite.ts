import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { DatabaseUnavailable, type RunDatabase } from "../run-database.ts";
import { testCommits } from "./commits.suite.ts";
import { appendTo, commitOf, commitTo, firstCall, job, profileOf, texts, untilAvailable } from "./commits.ts";
import type { TestedRun } from "./tested-run.ts";

/** Tests of the contract of `RunDatabase`. Call it in a test file of each implementation. `open` opens a new, empty run. */
export function testRunDatabase(name: string, open: () => Promise<TestedRun>): void {
  describe(`the database of a run, ${name}`, () => {
    let run: TestedRun;
    let a: RunDatabase;
    let b: RunDatabase;

    beforeEach(async () => {
      run = await open();
      a = await run.connect();
      b = await run.connect();
    });
    afterEach(() => run.close());

    testCommits(() => ({ run, a, b }));

    describe("without a connection", () => {
      test("operations reject with DatabaseUnavailable, and work again when the database is back", async () => {
        const id = systemIds.uuid();
        await commitTo(a, { id, appends: [appendTo("s", 0, "1")] });
        await run.cut();
        let calls = 0;
        const transaction = a.transact(0, () => {
          calls++;
          return commitOf({ appends: [appendTo("s", 1, "lost")] });
        });
        const self = { managerId: "m1", url: "http://one" };
        const outcomes = await Promise.allSettled([transaction, a.commitsAfter(0), a.hasCommit(id), b.heartbeat(self)]);
        expect(outcomes.map((one) => (one.status === "rejected" ? one.reason.name : one.value))).toEqual(
          Array.from({ length: 4 }, () => "DatabaseUnavailable"),
        );
        expect(calls).toBe(0);
        await run.restore();
        await untilAvailable(a);
        await untilAvailable(b);
        expect(await b.hasCommit(id)).toBe(true);
        await commitTo(a, { appends: [appendTo("s", 1, "2")] });
        expect(texts(await b.commitsAfter(0))).toEqual(["s 0 1", "s 1 2"]);
      });

      test.each([
        ["before", false],
        ["after", true],
      ] as const)(
        "a connection lost %s the commit makes it unknown, and hasCommit returns %s",
        async (moment, isMade) => {
          await commitTo(a, { appends: [appendTo("s", 0, "1")] });
          run.loseNextCommit(moment);
          const lost = commitOf({
            appends: [appendTo("s", 1, "lost")],
            writes: [profileOf("P01")],
            jobs: { added: [job("M1")], ended: [] },
          });
          await expect(a.transact(0, () => lost)).rejects.toMatchObject({ name: "CommitUnknown" });
          await untilAvailable(a);
          expect([await a.hasCommit(lost.id), await b.hasCommit(lost.id)]).toEqual([isMade, isMade]);
          const later = await a.commitsAfter(1);
          expect([later.number, texts(later), [...later.profiles.keys()], (await run.jobs()).added]).toEqual(
            isMade ? [2, ["s 1 lost"], ["P01"], [job("M1")]] : [1, [], [], []],
          );
          const version = isMade ? 2 : 1;
          await commitTo(a, { appends: [appendTo("s", version, "next")] }, later.number);
          expect(texts(await b.commitsAfter(later.number))).toEqual([`s ${version} next`]);
        },
      );

      test("hasCommit returns false for an id of no commit", async () => {
        await commitTo(a, {});
        expect(await a.hasCommit(systemIds.uuid())).toBe(false);
      });
    });

    describe("notifications", () => {
      test("a commit calls the listeners of the other managers, and not those of its own", async () => {
        const calls: string[] = [];
        a.onCommits(() => calls.push("a"));
        const calledB = firstCall((done) => b.onCommits(done));
        await commitTo(a, {});
        await calledB;
        expect(calls).toEqual([]);
        const calledA = firstCall((done) => a.onCommits(done));
        await commitTo(b, {});
        await calledA;
        expect(calls).toEqual(["a"]);
      });

      test("a removed listener is not called, and a decision of null calls none", async () => {
        const calls: string[] = [];
        const remove = b.onCommits(() => calls.push("removed"));
        b.onCommits(() => calls.push("kept"));
        remove();
        await a.transact(0, () => null);
        const calledB = firstCall((done) => b.onCommits(done));
        await commitTo(a, {});
        await calledB;
        expect(calls).toEqual(["kept"]);
      });

      test("listeners are called after each new connection, because notifications may have been missed", async () => {
        const calledA = firstCall((done) => a.onCommits(done));
        await run.cut();
        await run.restore();
        await calledA;
        const calledB = firstCall((done) => b.onCommits(done));
        await untilAvailable(a);
        await commitTo(a, {});
        await calledB;
      });

      test("a signal reaches all other managers, in order", async () => {
        const c = await run.connect();
        const received: Record<string, string[]> = { a: [], b: [], c: [] };
        const last = [
          firstCall((done) => a.onSignal((text) => text === "of b" && done())),
          firstCall((done) => b.onSignal((text) => text === "second" && done())),
          firstCall((done) => c.onSignal((text) => text === "of b" && done())),
        ];
        a.onSignal((text) => received.a?.push(text));
        b.onSignal((text) => received.b?.push(text));
        const remove = c.onSignal((text) => received.c?.push(text));
        c.onSignal(() => remove());
        await a.signal("first 'Ü'");
        await a.signal("second");
        await b.signal("of b");
        await Promise.all(last);
        expect(received).toEqual({ a: ["of b"], b: ["first 'Ü'", "second"], c: ["first 'Ü'"] });
      });

      test("a signal has up to 7,000 bytes", async () => {
        const text = "é".repeat(3_500);
        const received = new Promise((resolve) => b.onSignal(resolve));
        await a.signal(text);
        expect(await received).toBe(text);
      });
    });

    test("the time is that of the database", async () => {
      expect(Math.abs((await a.time()) - systemClock.now())).toBeLessThan(60_000); // on the same machine
      await run.cut();
      await expect(a.time()).rejects.toThrow(DatabaseUnavailable);
    });

    describe("members", () => {
      const one = { managerId: "m1", url: "http://one" };
      const two = { managerId: "m2", url: "http://two" };

      test("are the managers with a heartbeat in the last five seconds, ordered by id", async () => {
        expect(await b.heartbeat(two)).toEqual([two]);
        expect(await a.heartbeat(one)).toEqual([one, two]);
        await run.passTime(2_000);
        expect(await b.heartbeat(two)).toEqual([one, two]);
        await run.passTime(4_000);
        expect(await b.heartbeat(two)).toEqual([two]);
        expect(await a.heartbeat(one)).toEqual([one, two]);
      });

      test("have the address of their last heartbeat", async () => {
        await a.heartbeat(one);
        await a.heartbeat({ ...one, url: "http://elsewhere" });
        expect(await b.heartbeat(two)).toEqual([{ ...one, url: "http://elsewhere" }, two]);
      });

      test("leave", async () => {
        await a.heartbeat(one);
        await b.heartbeat(two);
        await a.leave("m1");
        expect(await b.heartbeat(two)).toEqual([two]);
      });
    });
  });
}
