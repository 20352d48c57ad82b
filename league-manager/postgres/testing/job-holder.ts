/** A manager that takes jobs from the queue of the database at `argv[2]`, and prints each job that it gets or loses. */
import { systemClock } from "#shared/lib/clock.ts";
import { jobKey } from "../../match-queue.ts";
import { openJobQueue } from "../job-queue.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const queue = await openJobQueue({ url: process.argv[2] ?? "", clock: systemClock, onError: () => {} });
queue.work(
  () => 10,
  (job, held) => {
    print(`got ${jobKey(job)}`);
    held.addEventListener("abort", () => print(`lost ${jobKey(job)}`));
  },
);
// The timers of the queue do not keep a process running.
setInterval(() => {}, 1_000);
