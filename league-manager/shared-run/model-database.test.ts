import { testMatchQueue } from "../testing/match-queue.suite.ts";
import type { QueueTransaction } from "./testing/model-queue.ts";
import { modelRun } from "./testing/model-run.ts";
import { testRunDatabase } from "./testing/run-database.suite.ts";

testRunDatabase("in the model of the simulations", async () => modelRun());

testMatchQueue<QueueTransaction>("in the model of the simulations", async () => {
  const run = modelRun();
  const [a, b] = [await run.connect(), await run.connect()];
  return {
    managers: [a.queue, b.queue],
    async commit(change) {
      const transaction: QueueTransaction = [];
      await change(transaction);
      for (const one of transaction) one();
    },
  };
});
