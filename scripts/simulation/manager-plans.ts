import { createRandom, type Random } from "#shared/lib/rng.ts";
import { DISTURBANCES_MS, type Disturbance } from "./disturbance.ts";
import { DATABASE, MANAGER, managerName } from "./machines/names.ts";
import type { Plan } from "./plan.ts";

const SHARE_WITH_MANAGERS = 0.3;
const MAX_MANAGER_DISTURBANCES = 6;
const MAX_MANAGER_KINDS = 3;

/** Returns the plan, or in three of ten cases a plan in which two or three managers take the place of the only one, with disturbances of their database. */
export function withManagers(plan: Plan): Plan {
  const random = createRandom(`${plan.seed}/managers`);
  return random.next() < SHARE_WITH_MANAGERS ? withSeveralManagers(plan, random) : plan;
}

/** Puts two or three managers in the place of the only one. */
export function withSeveralManagers(plan: Plan, random: Random): Plan {
  const managers = random.int(2, 3);
  const anyManager = (): string => managerName(random.int(0, managers - 1));
  const kinds = random.shuffle(MANAGER_KINDS).slice(0, random.int(1, MAX_MANAGER_KINDS));
  const added = Array.from({ length: random.int(0, MAX_MANAGER_DISTURBANCES) }, () =>
    random.pick(kinds)(random, anyManager),
  );
  const disturbances = [...plan.disturbances.map((one) => toManager(one, anyManager)), ...added];
  return {
    ...plan,
    ...{ managers, capacity: random.int(1, 3), disturbances: disturbances.sort((a, b) => a.at - b.at) },
  };
}

/** The same disturbance of any of the managers. */
function toManager(one: Disturbance, anyManager: () => string): Disturbance {
  if (one.type === "partition") {
    const [a, b] = one.between;
    const other = (machine: string): string => (machine === MANAGER ? anyManager() : machine);
    return { ...one, between: [other(a), other(b)] };
  }
  return "machine" in one && one.machine === MANAGER ? { ...one, machine: anyManager() } : one;
}

/** Returns a random disturbance of one kind. */
type ManagerKind = (random: Random, anyManager: () => string) => Disturbance;

const start = (random: Random): number => random.int(0, DISTURBANCES_MS);

const managerCrash: ManagerKind = (random, anyManager) => ({
  ...{ type: "crash", at: start(random), machine: anyManager(), downMs: random.int(0, 8_000) },
});
const managerCrashAtCommit: ManagerKind = (random, anyManager) => ({
  ...{ type: "crash at commit", at: start(random), machine: anyManager(), downMs: random.int(0, 8_000) },
  isCommitted: random.next() < 0.5,
});
const stop: ManagerKind = (random, anyManager) => ({
  ...{ type: "stop", at: start(random), ms: random.int(100, 10_000), machine: anyManager() },
});
const cut: ManagerKind = (random, anyManager) => ({
  ...{ type: "partition", at: start(random), ms: random.int(100, 10_000), between: [anyManager(), DATABASE] },
  isSilent: random.next() < 0.5,
});
const databaseCrash: ManagerKind = (random) => ({
  ...{ type: "database crash", at: start(random), downMs: random.int(0, 5_000) },
});
const commitFaults: ManagerKind = (random, anyManager) => ({
  ...{ type: "commit faults", at: start(random), ms: random.int(100, 8_000), machine: anyManager() },
  share: random.next(),
});
const slowDatabase: ManagerKind = (random) => ({
  ...{ type: "slow", at: start(random), ms: random.int(100, 8_000), machine: DATABASE, delayMs: random.int(10, 1_000) },
});

const MANAGER_KINDS: readonly ManagerKind[] = [
  managerCrash,
  managerCrashAtCommit,
  stop,
  cut,
  databaseCrash,
  commitFaults,
  slowDatabase,
];
