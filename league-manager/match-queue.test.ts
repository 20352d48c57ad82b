import { localQueue } from "./match-queue.ts";
import { testMatchQueue } from "./testing/match-queue.suite.ts";

testMatchQueue("in process", async () => {
  const queue = localQueue();
  return { managers: [queue, queue], commit: (change) => change(null) };
});
