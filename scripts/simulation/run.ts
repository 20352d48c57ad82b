import { createChecker } from "./checks/check.ts";
import { type Choice, type Correspondence, createCorrespondence } from "./checks/secrecy.ts";
import { isExpected, World } from "./machines/world.ts";
import { longestMs, type Plan, planOf } from "./plan.ts";

export interface Outcome {
  readonly faults: readonly string[];
  readonly steps: number;
  /** Virtual time, ms. */
  readonly endedAt: number;
  readonly trace: readonly string[];
}

/**
 * Runs a plan to its end and checks its invariants. The same plan gives the same trace. If players have chosen at the same time, a part of the
 * plan is run again with another choice of one of them: nobody may notice before the turn closes.
 */
export async function runPlan(plan: Plan): Promise<Outcome> {
  const rejected: string[] = [];
  const onRejection = (thrown: unknown): void => {
    if (!isExpected(thrown)) rejected.push(`nothing catches ${thrown instanceof Error ? thrown.stack : thrown}`);
  };
  process.on("unhandledRejection", onRejection);
  try {
    const sent = createCorrespondence();
    const outcome = await runToEnd(plan, sent);
    const faults = [...outcome.faults, ...rejected];
    const sealed = faults.length === 0 ? sent.sealedChoice() : null;
    if (!sealed) return { ...outcome, faults };
    const again = createCorrespondence();
    await sentOf(plan, again, sealed.choice, sealed.before);
    return { ...outcome, faults: [...sent.differences(again, sealed), ...rejected] };
  } finally {
    process.off("unhandledRejection", onRejection);
  }
}

async function runToEnd(plan: Plan, sent: Correspondence): Promise<Outcome> {
  const trace: string[] = [];
  const checker = createChecker(plan);
  const world = new World(plan, {
    onRequest: (passed) => {
      const at = world.scheduler.now();
      trace.push(`${at.toFixed(3)} ${passed.from} > ${passed.to} ${passed.body.slice(0, 2_000)}`);
      sent.onRequest(at, passed);
      checker.onRequest(passed);
    },
    onAnswer: (passed, reply) => {
      sent.onAnswer(world.scheduler.now(), passed, reply);
      checker.onAnswer(passed, reply);
    },
    onCommitted: (machine, db) => checker.onCommitted(machine, db),
    trace: (line) => trace.push(line),
  });
  const limitMs = longestMs(plan);
  const steps = await world.play(checker.isOver, limitMs);
  const faults = checker.isOver() ? [] : [`the league did not end within ${Math.ceil(limitMs / 1_000)} s`];
  const endedAt = world.scheduler.now();
  await world.stop();
  if (world.timers() > 0) faults.push(`${world.timers()} timers are left after the stop`);
  const databases = world.databasesOf("manager");
  return {
    faults: [...world.faults, ...faults, ...(await checker.faults(databases))],
    steps,
    endedAt,
    trace,
  };
}

/** Plays a plan until so many messages were sent, or its league is over, and records them in `sent`. `choice` is replaced by another one. */
export async function sentOf(plan: Plan, sent: Correspondence, choice: Choice | null, count: number): Promise<void> {
  const checker = createChecker(plan);
  const world = new World(
    plan,
    {
      onRequest: (passed) => sent.onRequest(world.scheduler.now(), passed),
      onAnswer: (passed, reply) => sent.onAnswer(world.scheduler.now(), passed, reply),
      onCommitted: (machine, db) => checker.onCommitted(machine, db),
      trace: () => {},
    },
    choice,
  );
  await world.play(() => checker.isOver() || sent.length() >= count, longestMs(plan));
}

/** Loads the modules that agents load while they run, so that no run waits for the disk of this machine. */
export async function warmUp(): Promise<void> {
  await runPlan({ ...planOf("warm-up"), players: ["well", "well"], disturbances: [] });
}
