import { createChecker } from "./check.ts";
import { type Plan, planOf } from "./plan.ts";
import { isExpected, World } from "./world.ts";

/** A league that is not over by then hangs. */
const LIMIT_MS = 600_000;

export interface Outcome {
  readonly faults: readonly string[];
  readonly steps: number;
  /** Virtual time, ms. */
  readonly endedAt: number;
  readonly trace: readonly string[];
}

/** Runs a plan to its end and checks its invariants. The same plan gives the same trace. */
export async function runPlan(plan: Plan): Promise<Outcome> {
  const trace: string[] = [];
  const checker = createChecker(plan);
  const rejected: string[] = [];
  const onRejection = (thrown: unknown): void => {
    if (!isExpected(thrown)) rejected.push(`nothing catches ${thrown instanceof Error ? thrown.stack : thrown}`);
  };
  process.on("unhandledRejection", onRejection);
  try {
    const world = new World(plan, {
      onRequest: (passed) => {
        trace.push(`${world.scheduler.now().toFixed(3)} ${passed.from} > ${passed.to} ${passed.body.slice(0, 2_000)}`);
        checker.onRequest(passed);
      },
      onAnswer: (passed, reply) => checker.onAnswer(passed, reply),
      onCommitted: (machine, db) => checker.onCommitted(machine, db),
      trace: (line) => trace.push(line),
    });
    let steps = 0;
    while (!checker.isOver() && world.scheduler.now() < LIMIT_MS && (await world.scheduler.step())) steps++;
    const faults = checker.isOver() ? [] : [`the league did not end within ${LIMIT_MS / 1_000} s`];
    const endedAt = world.scheduler.now();
    await world.stop();
    if (world.timers() > 0) faults.push(`${world.timers()} timers are left after the stop`);
    const databases = world.databasesOf("manager");
    return {
      faults: [...world.faults, ...faults, ...rejected, ...(await checker.faults(databases))],
      steps,
      endedAt,
      trace,
    };
  } finally {
    process.off("unhandledRejection", onRejection);
  }
}

/** Loads the modules that agents load while they run, so that no run waits for the disk of this machine. */
export async function warmUp(): Promise<void> {
  await runPlan({ ...planOf("warm-up"), players: ["well", "well"], disturbances: [] });
}
