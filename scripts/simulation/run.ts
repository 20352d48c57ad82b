import { AGREEMENT_MS, faultsOfAgreement, shownBy } from "./checks/agreement.ts";
import { createChecker } from "./checks/check.ts";
import type { Fault } from "./checks/rules.ts";
import { type Choice, type Correspondence, createCorrespondence } from "./checks/secrecy.ts";
import { type Counts, Coverage } from "./coverage.ts";
import { MANAGER } from "./machines/names.ts";
import { isExpected, World } from "./machines/world.ts";
import { endOf, isCalled, type Plan, timeLimitMs } from "./plan.ts";
import { planOf } from "./random-plan.ts";

/** The result of a run. */
interface Outcome {
  /** The violated invariants, as text; empty if the run is correct. */
  readonly faults: readonly Fault[];
  readonly steps: number;
  /** The virtual time of the end, in ms. */
  readonly endedAt: number;
  readonly trace: readonly string[];
  /** What the run contained. */
  readonly counts: Counts;
}

/**
 * Runs a plan to its end and checks the invariants. The same plan gives the same trace. If the run has simultaneous turns, a part of it is repeated
 * with another choice of one player, which must not change a message to another agent before the turn closes.
 */
export async function runPlan(plan: Plan): Promise<Outcome> {
  const rejected: Fault[] = [];
  const onRejection = (thrown: unknown): void => {
    if (!isExpected(thrown))
      rejected.push(`errors: unhandled rejection: ${thrown instanceof Error ? thrown.stack : thrown}`);
  };
  process.on("unhandledRejection", onRejection);
  try {
    const sent = createCorrespondence((machine) => isCalled(plan, machine));
    const outcome = await runToEnd(plan, sent);
    const faults = [...outcome.faults, ...rejected];
    // Matches of two leagues have the same ids, by which the choice would be changed in both.
    const sealed = faults.length === 0 && !plan.isSecondLeague ? sent.sealedChoice() : null;
    if (!sealed) return { ...outcome, faults };
    const repeated = createCorrespondence();
    await recordMessages(plan, repeated, sealed.choice, sealed.before);
    return { ...outcome, faults: [...sent.differences(repeated, sealed), ...rejected] };
  } finally {
    process.off("unhandledRejection", onRejection);
  }
}

async function runToEnd(plan: Plan, sent: Correspondence): Promise<Outcome> {
  const trace: string[] = [];
  const coverage = new Coverage();
  coverage.addPlan(plan);
  const checker = createChecker(plan, () => world.scheduler.now());
  // The repetition of a part of the run ends with the league, so later messages cannot be compared.
  let isCompared = true;
  const world = new World(plan, {
    onRequest: (request, sentAt) => {
      const at = world.scheduler.now();
      const arrow = request.isOverSocket ? ">>" : ">";
      trace.push(`${at.toFixed(3)} ${request.from} ${arrow} ${request.to} ${request.body.slice(0, 2_000)}`);
      if (isCompared) sent.onRequest(at, request);
      checker.onRequest(request, sentAt);
      coverage.onRequest(request.body);
    },
    onAnswer: (request, reply) => {
      if (isCompared) sent.onAnswer(world.scheduler.now(), request, reply);
      checker.onAnswer(request, reply);
      coverage.onAnswer(request.body, reply);
    },
    onCommitted: checker.onCommitted,
    onProcess: checker.onProcess,
    onView: checker.onView,
    trace: (line) => trace.push(line),
  });
  const limitMs = timeLimitMs(plan);
  const steps = await world.play(checker.isOver, limitMs);
  isCompared = false;
  const faults: Fault[] = checker.isOver()
    ? []
    : [`end: the league did not end within ${Math.ceil(limitMs / 1_000)} s`];
  const endedAt = world.scheduler.now();
  const { database } = world;
  if (plan.managers > 1 && database && checker.isOver()) {
    const agreeAt = Math.max(endedAt, ...plan.disturbances.map(endOf)) + AGREEMENT_MS;
    await world.play(() => false, agreeAt);
    faults.push(...(await faultsOfAgreement(plan, world, database)));
  }
  const shown = plan.calls && checker.isOver() ? await shownBy(world, MANAGER, "get_standings") : null;
  faults.push(...checker.faultsOfShown(shown));
  await world.stop();
  if (world.timers() > 0) faults.push(`resources: ${world.timers()} timers are left after the stop`);
  for (const db of world.databases()) coverage.addDatabase(db);
  return {
    counts: coverage.counts,
    faults: [...world.faults, ...faults, ...(await checker.faults(database))],
    steps,
    endedAt,
    trace,
  };
}

/** Plays a plan until `count` messages were sent or its league is over, and records the messages in `sent`. The player of `choice` replaces it by another one. */
export async function recordMessages(
  plan: Plan,
  sent: Correspondence,
  choice: Choice | null,
  count: number,
): Promise<void> {
  const checker = createChecker(plan);
  const world = new World(
    plan,
    {
      onRequest: (request) => sent.onRequest(world.scheduler.now(), request),
      onAnswer: (request, reply) => sent.onAnswer(world.scheduler.now(), request, reply),
      onCommitted: checker.onCommitted,
      onProcess: () => {},
      onView: () => {},
      trace: () => {},
    },
    choice,
  );
  await world.play(() => checker.isOver() || sent.length() >= count, timeLimitMs(plan));
}

/** Loads the modules that agents import on first use, so that no simulated run waits for the disk of this machine. */
export async function warmUp(): Promise<void> {
  // The limits of callers on other machines are loaded at the first request of such a caller.
  await runPlan({ ...planOf("warm-up"), players: ["hostile", "well"], contacts: [], disturbances: [] });
}

/** Removes the disturbances and the calls of operators that a failing plan does not need to fail. Resolves with a plan that passes if any further one is removed. */
export async function shrink(plan: Plan): Promise<Plan> {
  for (const smaller of smallerPlans(plan)) if ((await runPlan(smaller)).faults.length > 0) return shrink(smaller);
  return plan;
}

/** The plans that lack one disturbance, or one call without which the league nevertheless starts. */
function* smallerPlans(plan: Plan): Iterable<Plan> {
  const { disturbances, calls = [] } = plan;
  for (const one of disturbances) yield { ...plan, disturbances: disturbances.filter((other) => other !== one) };
  const starting = plan.isStartedByOperator ? "start_league" : plan.added !== undefined ? "add_player" : null;
  for (const one of calls) if (one.tool !== starting) yield { ...plan, calls: calls.filter((other) => other !== one) };
}
