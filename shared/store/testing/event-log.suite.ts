import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chainHash, GENESIS, type NewEvent } from "#shared/lib/hash.ts";
import type { Statement } from "#shared/store/writer.ts";
import { type EventLog, type StreamAppend, VersionConflict } from "../event-log.ts";
import { events, type OpenedLog } from "./event-log.ts";

/** Tests an implementation of the event log. `open` creates a new log with a table `notes` with the unique column `text`. */
export function testEventLog(name: string, open: () => OpenedLog): void {
  describe(`the event log, ${name}`, () => {
    let store: OpenedLog;
    let log: EventLog;
    const to = (stream: string, expectedVersion: number, count = 1): StreamAppend => {
      return { stream, expectedVersion, events: events(count, `after ${expectedVersion}`) };
    };
    const append = (stream: string, expectedVersion: number, count = 1) =>
      log.append([to(stream, expectedVersion, count)]);
    const versions = (...names: string[]): number[] => names.map((name) => log.read(name).length);
    const note = (text: string): Statement => ({
      sql: "INSERT INTO notes (text) VALUES (?)",
      parameters: [text],
    });
    const conflict = (stream: string, expectedVersion: number, actualVersion: number) =>
      expect.objectContaining({ name: "VersionConflict", stream, expectedVersion, actualVersion });
    const outcomes = async (promises: readonly Promise<unknown>[]): Promise<unknown[]> =>
      (await Promise.allSettled(promises)).map((append) =>
        append.status === "rejected" ? append.reason : "committed",
      );

    beforeEach(() => {
      store = open();
      log = store.log;
    });
    afterEach(() => store.close());

    test("append resolves with the recorded events after they are committed, and read returns the same events", async () => {
      const pending = append("s", 0, 2);
      expect(log.read("s")).toEqual([]);
      const recorded = await pending;
      const [first, second] = events(2, "after 0") as [NewEvent, NewEvent];
      const hash = chainHash(GENESIS, first.body);
      expect(recorded).toEqual([
        { stream: "s", seq: 0, ...first, prev_hash: GENESIS, hash },
        { stream: "s", seq: 1, ...second, prev_hash: hash, hash: chainHash(hash, second.body) },
      ]);
      expect(log.read("s")).toEqual(recorded);
    });

    test("each stream has a separate chain, over several appends", async () => {
      const recorded = [await append("a", 0), await append("b", 0, 3), await append("a", 1, 2)].flat();
      for (const stream of ["a", "b"]) {
        const chain = recorded.filter((event) => event.stream === stream);
        expect(log.read(stream)).toEqual(chain);
        expect(chain.map(({ seq, prev_hash }) => [seq, prev_hash])).toEqual(
          chain.map((_, seq) => [seq, chain[seq - 1]?.hash ?? GENESIS]),
        );
        expect(chain.map(({ prev_hash, body }) => chainHash(prev_hash, body))).toEqual(chain.map(({ hash }) => hash));
      }
    });

    test("read begins at a sequence number and ends at a limit", async () => {
      const recorded = await append("s", 0, 4);
      expect([log.read("s", 2), log.read("s", 4), log.read("unknown")]).toEqual([recorded.slice(2), [], []]);
      expect([log.read("s", 0, 3), log.read("s", 3, 3)]).toEqual([recorded.slice(0, 3), recorded.slice(3)]);
    });

    test("streams are listed by prefix, in the order of their creation", async () => {
      for (const stream of ["league/b", "agent/1", "league/a", "leagues", "LEAGUE/c", "league/é%_"])
        await append(stream, 0);
      await append("league/b", 1);
      expect(log.streams("league/")).toEqual(["league/b", "league/a", "league/é%_"]);
      expect(log.streams()).toHaveLength(6);
      expect(log.streams("unknown")).toEqual([]);
    });

    test("one append can write to several streams", async () => {
      await append("a", 0);
      const recorded = await log.append([to("a", 1, 2), to("b", 0), to("c", 0, 3)]);
      expect(recorded.map(({ stream, seq }) => `${stream}${seq}`)).toEqual(["a1", "a2", "b0", "c0", "c1", "c2"]);
      expect(versions("a", "b", "c")).toEqual([3, 1, 3]);
    });

    test("an append with a wrong expected version is rejected and changes no stream", async () => {
      await append("a", 0, 2);
      expect(await outcomes([log.append([to("b", 0), to("a", 1)], [note("x")])])).toEqual([conflict("a", 1, 2)]);
      expect(await outcomes([append("a", 3), append("new", 1)])).toEqual([conflict("a", 3, 2), conflict("new", 1, 0)]);
      expect([versions("a", "b", "new"), log.streams(), store.notes()]).toEqual([[2, 0, 0], ["a"], []]);
      await append("a", 2);
      await append("b", 0);
    });

    test("only the first of two appends with the same expected version is committed", async () => {
      expect(await outcomes([append("s", 0, 2), append("s", 0)])).toEqual(["committed", conflict("s", 0, 2)]);
      expect(log.read("s").map(({ seq }) => seq)).toEqual([0, 1]);
    });

    test("a conflict with a pending append is reported after that append is settled", async () => {
      const settled: string[] = [];
      const first = append("s", 0).then(() => settled.push("first"));
      const second = append("s", 0).catch((thrown) => settled.push(String(thrown instanceof VersionConflict)));
      await Promise.all([first, second]);
      expect(settled).toEqual(["first", "true"]);
    });

    test("an append can build on a pending append", async () => {
      const recorded = (await Promise.all([append("s", 0), append("s", 1, 2), append("s", 3)])).flat();
      expect(log.read("s")).toEqual(recorded);
    });

    test("a failed append fails only the appends that build on it; the stream continues after the committed events", async () => {
      await append("s", 0);
      await log.append([], [note("taken")]);
      const group = [
        append("s", 1),
        log.append([to("s", 2), to("u", 0)], [note("taken")]),
        append("s", 3),
        append("u", 1),
        append("t", 0, 2),
        log.append([to("t", 2)], [note("free")]),
      ];
      const failed = expect.objectContaining({
        message: expect.stringContaining("UNIQUE constraint failed: notes.text"),
      });
      expect(await outcomes(group)).toEqual([
        "committed",
        failed,
        conflict("s", 3, 2),
        conflict("u", 1, 0),
        "committed",
        "committed",
      ]);
      expect([versions("s", "t", "u"), log.streams(), store.notes()]).toEqual([
        [2, 3, 0],
        ["s", "t"],
        ["free", "taken"],
      ]);
      await Promise.all([append("s", 2), append("u", 0)]);
      expect(versions("s", "u")).toEqual([3, 1]);
    });

    test("an append that expects the committed version is accepted after a pending append has failed", async () => {
      await log.append([], [note("taken")]);
      const group = [log.append([to("s", 0, 2)], [note("taken")]), append("s", 0)];
      expect(await outcomes(group)).toEqual([expect.any(Error), "committed"]);
      expect(versions("s")).toEqual([1]);
    });

    test("statements of an append run after its events, in the same transaction", async () => {
      const sql = "INSERT INTO notes (text) SELECT name FROM streams WHERE name = ?";
      await log.append([to("s", 0)], [{ sql, parameters: ["s"] }]);
      expect(store.notes()).toEqual(["s"]);
    });

    test("appends in one turn of the event loop share a transaction; appends in different turns do not", async () => {
      const before = store.commits();
      const seen = await Promise.all(
        Array.from({ length: 40 }, (_, n) => append(`s${n % 4}`, Math.floor(n / 4)).then(() => versions("s0", "s3"))),
      );
      expect(seen).toEqual(Array(40).fill([10, 10]));
      if (before !== null) expect(store.commits()).toBe(before + 1);
      await append("s0", 10);
      await append("s0", 11);
      if (before !== null) expect(store.commits()).toBe(before + 3);
    });

    test("an append that names a stream twice or has no events is rejected with a TypeError", async () => {
      const errors = await outcomes([log.append([to("a", 0), to("a", 1)]), log.append([to("a", 0, 0)])]);
      expect(errors).toEqual([new TypeError("a stream is named twice"), new TypeError("an append has no events")]);
      expect(log.streams()).toEqual([]);
    });

    test("an append without streams commits its statements", async () => {
      await log.append([], [note("single")]);
      expect([store.notes(), log.streams()]).toEqual([["single"], []]);
    });
  });
}
