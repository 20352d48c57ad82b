import { beforeEach, expect, it, onTestFinished } from "vitest";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import type { Member } from "../shared-run/run-database.ts";
import { type MemberNotices, watchMembers } from "./member-notices.ts";

const member = (managerId: string, url: string): Member => ({ managerId, url });
const A = member("a", "http://10.0.0.1:8000");
const B = member("b", "http://10.0.0.2:8000");
const C = member("c", "http://10.0.0.3:8000");

let clock: ManualClock;
let members: readonly Member[];
let isFresh: boolean;
let lines: string[];
let notices: MemberNotices;

beforeEach(async () => {
  clock = manualClock();
  [members, isFresh, lines] = [[A, B, C], true, []];
  const notice = (line: string): void => void lines.push(line);
  notices = watchMembers({ self: A, members: () => members, isFresh: () => isFresh, clock, notice });
  onTestFinished(() => notices.stop());
  await clock.advance(30_000);
});

/** Returns the lines about a change of the managers. */
async function linesAfter(next: readonly Member[], seconds = 1): Promise<readonly string[]> {
  members = next;
  lines = [];
  await clock.advance(seconds * 1_000);
  return lines;
}

it("a manager says once at its start which managers work", () => {
  expect(lines).toEqual([
    "3 managers work on this database: http://10.0.0.1:8000, http://10.0.0.2:8000, http://10.0.0.3:8000",
  ]);
});

it("names a manager that no longer reports, and says when it works again, also as another process", async () => {
  expect(await linesAfter([A, C])).toEqual([
    "the manager at http://10.0.0.2:8000 has not reported for 5 s; 2 managers work",
  ]);
  expect(await linesAfter([A, C], 60)).toEqual([]);
  expect(await linesAfter([A, member("b2", B.url), C])).toEqual([
    "the manager at http://10.0.0.2:8000 works again; 3 managers work",
  ]);
});

it("names a manager that is new", async () => {
  const D = member("d", "http://10.0.0.4:8000");
  expect(await linesAfter([A, B, C, D])).toEqual(["another manager works at http://10.0.0.4:8000; 4 managers work"]);
});

it("tells a manager that was stopped, or that refuses connections, from a silent one", async () => {
  notices.onDeparture("b", "stopped");
  expect(await linesAfter([A, B, C], 2)).toEqual([]);
  notices.onDeparture("b", "refused");
  expect(await linesAfter([A, C])).toEqual(["the manager at http://10.0.0.2:8000 has stopped; 2 managers work"]);
  notices.onDeparture("c", "refused");
  expect(await linesAfter([A])).toEqual([
    "the manager at http://10.0.0.3:8000 accepts no connections; 1 manager works",
  ]);
});

it("says nothing of a manager whose process starts again within five seconds", async () => {
  const restarted = member("b2", B.url);
  expect(await linesAfter([A, B, restarted, C], 4)).toEqual([]);
  expect(await linesAfter([A, restarted, C], 4)).toEqual([]);
});

it("says nothing while it does not reach the database, nor of managers that return soon after it", async () => {
  isFresh = false;
  expect(await linesAfter([B], 60)).toEqual([]);
  isFresh = true;
  expect(await linesAfter([A], 3)).toEqual([]);
  expect(await linesAfter([A, B], 60)).toEqual([
    "the manager at http://10.0.0.3:8000 has not reported for 5 s; 2 managers work",
  ]);
});
