// A process that is stopped while it has the lock of the run. It prints "stopping" before that, and the outcomes of its transactions after it has
// been continued. Its argument is the URL of the database.
import { commitTo } from "../../shared-run/testing/commits.ts";
import { openRun } from "./postgres-runs.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const run = await openRun(process.argv[2] ?? "");
try {
  await run.transact(0, () => {
    print("stopping");
    process.kill(process.pid, "SIGSTOP");
    return {
      id: "00000000-0000-4000-8000-000000000000",
      at: "2026-01-01T00:00:00.000Z",
      appends: [],
      writes: [],
      jobs: { added: [], ended: [] },
    };
  });
  print("committed");
} catch (thrown) {
  print(thrown instanceof Error ? thrown.name : String(thrown));
}
const { number } = await commitTo(run, {});
print(`committed after ${number}`);
await run.close();
