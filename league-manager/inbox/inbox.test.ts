import { expect, it } from "vitest";
import {
  firstNumberOf,
  type Inbox,
  isAttended,
  isReachable,
  MAX_OPEN_BYTES,
  MAX_OPEN_REQUESTS,
  newInbox,
  requestsAfter,
  withAnswers,
  withoutRequest,
  withPoll,
  withRequest,
} from "./inbox.ts";

const EMPTY = newInbox(firstNumberOf(0), 0);

/** Returns an inbox with requests whose parameters are these values. */
function inboxWith(...values: readonly unknown[]): Inbox {
  return values.reduce<Inbox>((inbox, params) => {
    const added = withRequest(inbox, { method: "tools/call", params });
    if (!added.ok) throw new Error(added.error);
    return added.value.inbox;
  }, EMPTY);
}

/** Returns the numbers of the open requests above `after`, and the next `after`. */
function numbersAfter(inbox: Inbox, after: number) {
  const { next, requests } = requestsAfter(inbox, after);
  return { next, ids: requests.map((text) => JSON.parse(text).id as number) };
}

it("numbers requests in order, with the number as the JSON-RPC id", () => {
  const { requests } = requestsAfter(inboxWith({ a: 1 }, { a: 2 }), 0);
  expect(requests.map((text) => JSON.parse(text))).toEqual([
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { a: 1 } },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { a: 2 } },
  ]);
});

it("returns the open requests above the number of the last poll", () => {
  const inbox = inboxWith("a", "b", "c");
  expect(numbersAfter(inbox, 0)).toEqual({ next: 3, ids: [1, 2, 3] });
  expect(numbersAfter(inbox, 2)).toEqual({ next: 3, ids: [3] });
  expect(numbersAfter(inbox, 3)).toEqual({ next: 3, ids: [] });
  expect(numbersAfter(withoutRequest(inbox, 2), 0)).toEqual({ next: 3, ids: [1, 3] });
});

it("returns every open request to a client with a number of an earlier start", () => {
  const started = newInbox(firstNumberOf(0.5), 0);
  const added = withRequest(started, { method: "tools/call", params: {} });
  const inbox = added.ok ? added.value.inbox : started;
  const { firstNumber } = started;
  expect(numbersAfter(inbox, firstNumber - 100).ids).toEqual([firstNumber]);
  expect(numbersAfter(inbox, firstNumber + 100).ids).toEqual([firstNumber]);
  expect(numbersAfter(started, firstNumber + 100)).toEqual({ next: 0, ids: [] });
});

it("starts with numbers that depend on the random number and fit into 32 bits", () => {
  expect(firstNumberOf(0.1)).not.toBe(firstNumberOf(0.2));
  expect(firstNumberOf(0.999_999_999)).toBeLessThanOrEqual(2 ** 30);
});

it("matches answers by id, counts the first one and names the others", () => {
  const elements = [
    { id: 1, result: "x" },
    { id: 1, result: "y" },
    { id: 9, error: {} },
    { id: "a", result: 1 },
  ];
  const { inbox, answers, ignored } = withAnswers(inboxWith("a", "b"), elements);
  expect([...answers]).toEqual([[1, { id: 1, result: "x" }]]);
  expect(ignored).toEqual([1, 9, "a"]);
  expect(numbersAfter(inbox, 0).ids).toEqual([2]);
});

it("ignores elements that are not responses", () => {
  const { answers, ignored } = withAnswers(inboxWith("a"), [null, 5, "x", [], { id: 1 }, { id: { a: 1 }, result: 1 }]);
  expect(answers.size).toBe(0);
  expect(ignored).toEqual([null, null, null, null, 1, null]);
});

it("holds 64 open requests", () => {
  const full = inboxWith(...Array.from({ length: MAX_OPEN_REQUESTS }, (_, index) => index));
  expect(withRequest(full, { method: "m", params: {} })).toEqual({ ok: false, error: "full" });
  expect(withRequest(withoutRequest(full, 1), { method: "m", params: {} }).ok).toBe(true);
});

it("holds 1 MB of open requests", () => {
  const large = "x".repeat(MAX_OPEN_BYTES / 2);
  const inbox = inboxWith(large);
  expect(withRequest(inbox, { method: "m", params: large }).ok).toBe(false);
  const emptied = withoutRequest(inbox, 1);
  expect(emptied.openBytes).toBe(0);
  expect(withRequest(emptied, { method: "m", params: large }).ok).toBe(true);
});

it("is reachable while a poll waits, and for 30 s after it", () => {
  const waiting = withPoll(EMPTY, 1, 1_000);
  expect(isReachable(waiting, 1e9)).toBe(true);
  const ended = withPoll(waiting, -1, 100_000);
  expect(isReachable(ended, 129_999)).toBe(true);
  expect(isReachable(ended, 130_000)).toBe(false);
});

it("accepts requests for 30 s before the first poll, when no poll has arrived yet", () => {
  expect([isReachable(EMPTY, 29_999), isAttended(EMPTY, 29_999)]).toEqual([true, false]);
  expect(isReachable(EMPTY, 30_000)).toBe(false);
});
