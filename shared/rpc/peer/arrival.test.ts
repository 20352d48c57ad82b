import { beforeEach, expect, it } from "vitest";
import { type Arrival, createArrival } from "./arrival.ts";

let now: number;
let idle: number;
let deferred: (() => void)[];
let arrival: Arrival;
beforeEach(() => {
  now = 1_000;
  idle = 0;
  deferred = [];
  arrival = createArrival({ monotonic: () => now, idle: () => idle, defer: (run) => deferred.push(run) });
});

const wait = (ms: number): void => {
  now += ms;
  idle += ms;
};
const compute = (ms: number): void => {
  now += ms;
};
const endTurn = (): void => {
  for (const run of deferred.splice(0)) run();
};

it("data for which the process waited has arrived when it is read", () => {
  wait(50);
  expect(arrival.earliest()).toBe(now);
});

it("data that is read after a computation may have arrived when the computation began", () => {
  compute(300);
  expect(arrival.earliest()).toBe(1_000);
});

it("data that is read later in the same turn may have arrived with the first data of the turn", () => {
  wait(50);
  const first = arrival.earliest();
  compute(20);
  expect(arrival.earliest()).toBe(first);
});

it("a process that never waits has last read all sockets at the end of the previous turn", () => {
  wait(50);
  arrival.earliest();
  compute(20);
  endTurn();
  const endedAt = now;
  compute(7);
  expect(arrival.earliest()).toBe(endedAt);
});
