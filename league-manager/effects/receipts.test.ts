import { expect, test } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { Receipts, type Signals } from "./announcements.ts";

/** Two managers whose signals arrive at once, with the texts of the first and the receipts at the second. */
function twoManagers() {
  const clock = manualClock();
  const texts: string[] = [];
  const received: string[] = [];
  const listeners = new Set<(text: string) => void>();
  const deliver = (text: string): void => {
    for (const listener of listeners) listener(text);
  };
  const sender: Signals = {
    send: (text) => {
      texts.push(text);
      deliver(text);
    },
    onSignal: () => () => {},
  };
  const onSignal: Signals["onSignal"] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const from = new Receipts({ signals: sender, clock, onReceived: () => {} });
  const at = new Receipts({
    signals: { send: () => {}, onSignal },
    clock,
    onReceived: (leagueId, roundId, playerId) => received.push(`${leagueId}/${roundId}/${playerId}`),
  });
  return { clock, texts, received, from, at, deliver };
}

test("the receipts of 50 ms are sent together, one signal for each round", async () => {
  const { clock, texts, received, from } = twoManagers();
  from.add("rps", 1, "P01");
  await clock.advance(49);
  from.add("rps", 1, "P02");
  from.add("b", 3, "P01");
  expect(texts).toEqual([]);
  await clock.advance(1);
  expect(texts).toHaveLength(2);
  expect(received).toEqual(["rps/1/P01", "rps/1/P02", "b/3/P01"]);
  from.add("rps", 1, "P03");
  await clock.advance(50);
  expect(received.slice(3)).toEqual(["rps/1/P03"]);
});

test("a signal has at most 7,000 bytes, whatever the ids are", async () => {
  const { clock, texts, received, from } = twoManagers();
  const leagueId = "ב".repeat(200);
  const ids = Array.from({ length: 300 }, (_, n) => `${'א"'.repeat(n % 60)}${n}`);
  for (const id of ids) from.add(leagueId, 1, id);
  await clock.advance(50);
  expect(texts.length).toBeGreaterThan(1);
  expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(7_000);
  expect(received).toEqual(ids.map((id) => `${leagueId}/1/${id}`));
});

test("signals of other kinds are ignored, and so are all signals after the stop", async () => {
  const { clock, received, from, at, deliver } = twoManagers();
  for (const text of ["hello", "{}", '{"type":"announced","league_id":1}']) deliver(text);
  at.stop();
  from.add("rps", 1, "P01");
  await clock.advance(50);
  expect(received).toEqual([]);
});

test("the receipts that were not sent yet are sent at the stop", () => {
  const { received, from } = twoManagers();
  from.add("rps", 1, "P01");
  from.stop();
  expect(received).toEqual(["rps/1/P01"]);
});
