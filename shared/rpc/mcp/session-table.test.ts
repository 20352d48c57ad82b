import { expect, test } from "vitest";
import { SessionTable, type TableSession } from "./sessions.ts";

interface TestSession extends TableSession {
  readonly name: string;
}

const session = (
  name: string,
  remoteAddress: string,
  usedAt: number,
  busy: Partial<TableSession> = {},
): TestSession => ({
  name,
  remoteAddress,
  usedAt,
  calls: new Set(),
  streams: new Set(),
  ...busy,
});

function tableWith(limits: { total: number; perNetwork: number }, ...sessions: TestSession[]) {
  const evicted: string[] = [];
  const table = new SessionTable<TestSession>(limits, ({ name }) => evicted.push(name));
  for (const one of sessions) table.add(one);
  return { table, evicted };
}

test("a network at its limit evicts its own idle sessions only", () => {
  const { table, evicted } = tableWith(
    { total: 10, perNetwork: 2 },
    session("old", "10.0.0.9", 0),
    session("first", "2001:db8:1:2::1", 2),
    session("second", "2001:db8:1:2:ffff::2", 1),
  );
  expect([table.makeRoom("2001:db8:1:2::3"), evicted]).toEqual([true, ["second"]]);
  expect([table.makeRoom("2001:db8:1:3::1"), table.makeRoom("::ffff:10.0.0.9"), evicted]).toEqual([
    true,
    true,
    ["second"],
  ]);
});

test("a network at its limit with busy sessions gets no new one, and other networks do", () => {
  const { table, evicted } = tableWith(
    { total: 10, perNetwork: 2 },
    session("calling", "10.0.0.9", 0, { calls: new Set([1]) }),
    session("streaming", "10.0.0.9", 0, { streams: new Set([1]) }),
  );
  expect([table.makeRoom("10.0.0.9"), table.makeRoom("10.0.0.8"), evicted]).toEqual([false, true, []]);
});

test("loopback is limited by the total only", () => {
  const local = Array.from({ length: 5 }, (_, index) => session(`local ${index}`, "127.0.0.1", index));
  const { table, evicted } = tableWith({ total: 5, perNetwork: 2 }, ...local.slice(0, 4));
  expect([table.makeRoom("127.0.0.1"), evicted]).toEqual([true, []]);
  table.add(local[4] as TestSession);
  expect([table.makeRoom("::1"), evicted]).toEqual([true, ["local 0"]]);
});

test("a closed session makes room for a new one", () => {
  const first = session("first", "10.0.0.9", 0, { calls: new Set([1]) });
  const { table } = tableWith({ total: 5, perNetwork: 1 }, first);
  expect(table.makeRoom("10.0.0.9")).toBe(false);
  table.delete(first);
  expect([table.makeRoom("10.0.0.9"), [...table.all]]).toEqual([true, []]);
});
