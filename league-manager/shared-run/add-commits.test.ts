import { expect, test } from "vitest";
import { addCommits, type KnownRun } from "./shared-ledger.ts";

test("a manager does not continue with a database that was restored from a backup", () => {
  const lastForgotten = { player: 0, referee: 0 };
  const state = { leagues: new Map(), agents: new Map(), lastForgotten, formerLeagues: [] };
  const known: KnownRun = { number: 3, at: "", state, versions: new Map() };
  const commits = (number: number) => ({ number, events: [], profiles: new Map() });
  expect(() => addCommits(known, commits(2), [])).toThrow("the database has 2 commits, and this manager knows 3");
  expect([known.number, known.state]).toEqual([3, state]);
  expect(addCommits(known, commits(3), [])).toBeNull();
});
