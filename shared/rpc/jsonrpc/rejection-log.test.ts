import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { manualClock } from "../../lib/testing/clock.ts";
import { type RejectedRequest, rejectionLog } from "./rejection-log.ts";

let lines: Partial<RejectedRequest & { readonly from: string; readonly message: string }>[];
const log = { warn: (fields: object, message: string) => void lines.push({ ...fields, message }) };
beforeEach(() => {
  lines = [];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

const rejection = { code: "L004", reason: "not signed for me", agent: "player:P01", request: "GAME_INVITE" };

test("a rejection is one line with its code, reason, agent, request and address", () => {
  rejectionLog(log, systemClock).write("10.0.0.9", rejection);
  expect(lines).toEqual([{ ...rejection, from: "10.0.0.9", message: "rejected" }]);
});

test("many rejections are five lines per minute for each code and network, and one line with the number of the others", () => {
  const rejections = rejectionLog(log, systemClock);
  for (let host = 1; host <= 1_000; host++) rejections.write(`2001:db8::${host}`, rejection);
  rejections.write("2001:db8:0:1::1", rejection);
  rejections.write("2001:db8::1", { ...rejection, code: 429 });
  expect(lines.map(({ code, from }) => [code, from])).toEqual([
    ...[1, 2, 3, 4, 5].map((host) => ["L004", `2001:db8::${host}`]),
    ["L004", "2001:db8:0:1::1"],
    [429, "2001:db8::1"],
  ]);
  vi.advanceTimersByTime(60_000);
  expect(lines.at(-1)).toMatchObject({ left_out: 995 });
  rejections.write("2001:db8::1", rejection);
  expect(lines.at(-1)).toMatchObject(rejection);
});

test("the total number of lines is limited for any number of addresses", () => {
  const rejections = rejectionLog(log, systemClock, { perCodeAndNetwork: 5, total: 20 });
  for (let host = 0; host < 250; host++) rejections.write(`10.0.0.${host}`, rejection);
  expect(lines).toHaveLength(20);
});

test("flush writes the number of omitted rejections immediately and cancels the timer", () => {
  const clock = manualClock();
  const rejections = rejectionLog(log, clock);
  for (let count = 0; count < 7; count++) rejections.write("10.0.0.9", rejection);
  expect(clock.timers()).toBe(1);
  rejections.flush();
  expect(clock.timers()).toBe(0);
  expect(lines.at(-1)).toMatchObject({ left_out: 2 });
});

test("a line contains no token, and text from callers is cut and on one line", () => {
  const token = systemIds.token();
  const untrusted = {
    code: -32602,
    reason: `Unknown tool: ${token}`,
    agent: `a\u001b[2J ${token}`,
    request: `GET /${token}`,
  };
  rejectionLog(log, systemClock).write("10.0.0.9", untrusted);
  rejectionLog(log, systemClock).write("10.0.0.9", { ...untrusted, reason: "long ".repeat(1_000) });
  expect(JSON.stringify(lines)).not.toContain(token);
  expect(lines[0]).toMatchObject({ reason: "Unknown tool: [removed]", agent: "a [2J [removed]" });
  expect(lines[1]?.reason?.length).toBeLessThan(510);
});
