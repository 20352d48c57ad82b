import { createTestJobQueues } from "./postgres/testing/job-queues.ts";
import { testMatchQueue } from "./testing/match-queue.suite.ts";

testMatchQueue("on PostgreSQL", async () => {
  const queues = await createTestJobQueues();
  return { managers: [await queues.open(), await queues.open()], commit: queues.commit };
});
