import { beforeEach, describe, expect, test } from "vitest";
import { chainHash, GENESIS } from "#shared/lib/hash.ts";
import type { Profile } from "../../agents/registered-agent.ts";
import type { Write } from "../../ledger.ts";
import type { RunDatabase } from "../run-database.ts";
import { appendTo, commitOf, commitTo, job, profileOf, texts, versionIn } from "./commits.ts";
import type { TestedRun } from "./tested-run.ts";

/** The part of the contract of `RunDatabase` about commits. `current` returns the run of the current test with two of its managers. */
export function testCommits(current: () => { run: TestedRun; a: RunDatabase; b: RunDatabase }): void {
  let run: TestedRun;
  let a: RunDatabase;
  let b: RunDatabase;
  beforeEach(() => {
    ({ run, a, b } = current());
  });

  describe("commits", () => {
    test("a new run has no commits", async () => {
      expect(await a.commitsAfter(0)).toEqual({ number: 0, events: [], profiles: new Map() });
    });

    test("the later commits have their events in the order of the appends, chained by their hashes", async () => {
      await commitTo(a, { appends: [appendTo("s", 0, "1", "2"), appendTo("r", 0, "3")] });
      await commitTo(a, { appends: [appendTo("s", 2, "4")] });
      const later = await b.commitsAfter(0);
      expect([later.number, texts(later)]).toEqual([2, ["s 0 1", "s 1 2", "r 0 3", "s 2 4"]]);
      const [first, second, third, fourth] = later.events;
      expect(first).toMatchObject({ type: "noted", prev_hash: GENESIS, hash: chainHash(GENESIS, first?.body ?? "") });
      expect(third?.prev_hash).toBe(GENESIS);
      expect([second?.prev_hash, fourth?.prev_hash]).toEqual([first?.hash, second?.hash]);
      expect(fourth?.hash).toBe(chainHash(second?.hash ?? "", fourth?.body ?? ""));
      expect(await a.commitsAfter(0)).toEqual(later);
    });

    test("a read has only what was committed after the given commit", async () => {
      for (const version of [0, 1, 2]) await commitTo(a, { appends: [appendTo("s", version, `${version}`)] });
      const later = await b.commitsAfter(2);
      expect([later.number, texts(later)]).toEqual([3, ["s 2 2"]]);
      expect(await b.commitsAfter(3)).toEqual({ number: 3, events: [], profiles: new Map() });
    });

    test("a decision sees the commits of all managers after the commit that it names", async () => {
      await commitTo(a, { appends: [appendTo("s", 0, "a")] });
      expect(texts(await commitTo(b, { appends: [appendTo("s", 1, "b")] }))).toEqual(["s 0 a"]);
      const seen = await commitTo(a, { appends: [appendTo("t", 0, "c")] }, 1);
      expect([seen.number, texts(seen)]).toEqual([2, ["s 1 b"]]);
      const last = await commitTo(b, { appends: [appendTo("t", 1, "d")] }, 3);
      expect([last.number, texts(last)]).toEqual([3, []]);
      expect(texts(await a.commitsAfter(2))).toEqual(["t 0 c", "t 1 d"]);
    });

    test("a manager that has read the later commits appends to streams to which others have appended", async () => {
      await commitTo(a, { appends: [appendTo("s", 0, "1")] });
      await commitTo(b, { appends: [appendTo("s", 1, "2"), appendTo("t", 0, "3")] });
      const { number } = await a.commitsAfter(1);
      await commitTo(a, { appends: [appendTo("s", 2, "4"), appendTo("t", 1, "5")] }, number);
      await commitTo(a, { appends: [appendTo("s", 3, "6")] }, number + 1);
      expect(texts(await b.commitsAfter(number))).toEqual(["s 2 4", "t 1 5", "s 3 6"]);
      const ofStream = (await b.commitsAfter(0)).events.filter(({ stream }) => stream === "s");
      expect(ofStream.map(({ prev_hash }) => prev_hash)).toEqual([
        GENESIS,
        ...ofStream.slice(0, -1).map(({ hash }) => hash),
      ]);
    });

    test("concurrent decisions of several managers are made one after the other, and their numbers have no gaps", async () => {
      const numbers: number[] = [];
      const repeat = async (database: RunDatabase, count: number): Promise<void> => {
        for (let made = 0; made < count; made++) {
          await database.transact(0, (later) => {
            numbers.push(later.number + 1);
            const version = versionIn(later, "s");
            expect(version).toBe(later.number);
            return commitOf({ appends: [appendTo("s", version, "x"), appendTo(`t${version}`, 0, "y")] });
          });
        }
      };
      const c = await run.connect();
      await Promise.all([repeat(a, 15), repeat(b, 15), repeat(c, 15), repeat(c, 5)]);
      expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
      const { number, events } = await a.commitsAfter(0);
      expect([number, events.length]).toEqual([50, 100]);
    });

    test("a commit without events has a number", async () => {
      await commitTo(a, { jobs: { added: [job("M1")], ended: [] } });
      expect((await commitTo(b, {})).number).toBe(1);
      expect((await a.commitsAfter(0)).number).toBe(2);
    });

    test("a decision of null commits nothing", async () => {
      await commitTo(a, { appends: [appendTo("s", 0, "1")] });
      let calls = 0;
      await b.transact(0, () => {
        calls++;
        return null;
      });
      expect([calls, (await a.commitsAfter(0)).number]).toEqual([1, 1]);
      await commitTo(a, { appends: [appendTo("s", 1, "2")] });
      expect((await b.commitsAfter(0)).number).toBe(2);
    });

    test("an exception of the decision commits nothing and rejects", async () => {
      const thrown = new RangeError("decided wrongly");
      const failing = a.transact(0, () => {
        throw thrown;
      });
      await expect(failing).rejects.toBe(thrown);
      expect((await b.commitsAfter(0)).number).toBe(0);
      await commitTo(b, { appends: [appendTo("s", 0, "1")] });
      await commitTo(a, { appends: [appendTo("s", 1, "2")] });
      expect(texts(await b.commitsAfter(0))).toEqual(["s 0 1", "s 1 2"]);
    });

    test.each([
      ["too low", 1],
      ["too high", 3],
    ])(
      "an append with an expected version that is %s rejects, and nothing of its commit remains",
      async (_, expectedVersion) => {
        await commitTo(a, { appends: [appendTo("s", 0, "1", "2")] });
        const commit = commitOf({
          appends: [appendTo("other", 0, "x"), appendTo("s", expectedVersion, "3")],
          writes: [profileOf("P01")],
          jobs: { added: [job("M1")], ended: [] },
        });
        const conflict = { name: "VersionConflict", stream: "s", expectedVersion, actualVersion: 2 };
        await expect(b.transact(0, () => commit)).rejects.toMatchObject(conflict);
        expect([await a.hasCommit(commit.id), (await run.jobs()).added]).toEqual([false, []]);
        const later = await a.commitsAfter(0);
        expect([later.number, later.profiles.size, texts(later)]).toEqual([1, 0, ["s 0 1", "s 1 2"]]);
        await commitTo(b, { appends: [appendTo("other", 0, "y")] });
        expect(texts(await a.commitsAfter(1))).toEqual(["other 0 y"]);
      },
    );

    test("text of any language is stored exactly", async () => {
      const text = "Zoë 数独 🎲 \\ ' \" $1 \n\t\u0001";
      await commitTo(a, { appends: [appendTo("league:Ünïcode '1'", 0, text)], writes: [profileOf("P01", text)] });
      const later = await b.commitsAfter(0);
      expect(texts(later)).toEqual([`league:Ünïcode '1' 0 ${text}`]);
      expect(later.profiles.get("P01")?.name).toBe(text);
    });

    test("the jobs of a commit are added and ended in its transaction", async () => {
      await commitTo(a, { jobs: { added: [job("M1"), job("M2")], ended: [] } });
      await commitTo(b, { jobs: { added: [job("M1", 2)], ended: [job("M1")] } });
      const failing = a.transact(0, () =>
        commitOf({ appends: [appendTo("s", 5, "x")], jobs: { added: [job("M9")], ended: [job("M2")] } }),
      );
      await expect(failing).rejects.toMatchObject({ name: "VersionConflict" });
      expect(await run.jobs()).toEqual({ added: [job("M1"), job("M2"), job("M1", 2)], ended: [job("M1")] });
    });
  });

  describe("profiles", () => {
    test("a read has the current profile of each agent whose profile was written", async () => {
      await commitTo(a, { writes: [profileOf("P01"), profileOf("P02"), profileOf("P01", "Ann")] });
      await commitTo(a, { writes: [profileOf("P02", "Bob")] });
      const named = (name: string, id: string): Profile => profileOf(id, name).profile;
      expect((await b.commitsAfter(0)).profiles).toEqual(
        new Map([
          ["P01", named("Ann", "P01")],
          ["P02", named("Bob", "P02")],
        ]),
      );
      expect([...(await b.commitsAfter(1)).profiles.keys()]).toEqual(["P02"]);
      expect((await b.commitsAfter(2)).profiles.size).toBe(0);
    });

    test("an erased profile is null in a read, until the agent has one again", async () => {
      await commitTo(a, { writes: [profileOf("P01"), profileOf("P02")] });
      await commitTo(b, { writes: [{ type: "erase_profile", agentId: "P01" }] });
      expect((await a.commitsAfter(1)).profiles).toEqual(new Map([["P01", null]]));
      expect((await commitTo(a, { writes: [profileOf("P01", "Ann")] }, 1)).profiles.get("P01")).toBe(null);
      expect((await b.commitsAfter(2)).profiles.get("P01")?.name).toBe("Ann");
    });

    test("the last write of a commit counts", async () => {
      const erase = (agentId: string): Write => ({ type: "erase_profile", agentId });
      await commitTo(a, { writes: [erase("P01"), profileOf("P01"), profileOf("P02"), erase("P02"), erase("P03")] });
      const { profiles } = await b.commitsAfter(0);
      expect([profiles.get("P01")?.name, profiles.get("P02"), profiles.get("P03")]).toEqual(["P01", null, null]);
    });
  });
}
