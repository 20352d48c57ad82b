import { createRandom, type Random } from "#shared/lib/rng.ts";
import { DIALECT_PROGRAMS } from "./dialect-programs.ts";
import { DISTURBANCES_MS, type Disturbance, PERMANENT_MS } from "./disturbance.ts";
import { MANAGER, managerNames, playerName, refereeName } from "./machines/names.ts";
import { withSeveralManagers } from "./manager-plans.ts";
import type { Contact, Plan } from "./plan.ts";

/** The seeds of the situations are apart, so that they do not take the place of the same kind of plans with operators again and again. */
const [SITUATIONS_EVERY, SITUATIONS_APART] = [31, 3];

/** Returns a plan with a situation that random disturbances rarely cause. `plan` has one manager. */
type Situation = (plan: Plan, random: Random) => Plan;

/**
 * Returns the plan with a rare situation; null if the number of its seed has none. Any hundred seeds in a row have each situation three times.
 */
export function rareSituation(plan: Plan): Plan | null {
  const situation = SITUATIONS[(Number(plan.seed) % SITUATIONS_EVERY) / SITUATIONS_APART];
  return situation ? situation(plan, createRandom(`${plan.seed}/rare`)) : null;
}

/** The time of a match: longer than the time after a start of the manager in which no match is overdue. */
const OVERDUE_MATCH_MS = 65_000;
const STOPPED_MS = 85_000;
/** The manager is restarted while the referee is stopped. */
const MAX_RESTART_MS = 30_000;

/**
 * A referee is stopped for longer than a match may take, and the manager is restarted meanwhile. If there is another referee it gets the matches sooner.
 */
const stoppedReferee: Situation = (plan, random) => {
  const added: readonly Disturbance[] = [
    { type: "stop", at: random.int(1_000, DISTURBANCES_MS), ms: STOPPED_MS, machine: refereeName(0) },
    { type: "crash", at: random.int(10_000, MAX_RESTART_MS), machine: MANAGER, downMs: random.int(0, 1_000) },
  ];
  const kept = plan.disturbances.filter(({ type }) => type !== "clock set");
  return { ...plan, matchMs: OVERDUE_MATCH_MS, disturbances: [...kept, ...added].sort((a, b) => a.at - b.at) };
};

/** Most commits of all managers fail while the matches begin, and it is unknown whether they were made. */
const unknownCommits: Situation = (plan, random) => {
  const several = withSeveralManagers(plan, random);
  const faults = managerNames(several.managers).map(
    (machine): Disturbance => ({
      ...{ type: "commit faults", at: random.int(1_000, 2_500), ms: random.int(3_000, 5_000) },
      ...{ machine, share: 0.5 },
    }),
  );
  return { ...several, disturbances: faults };
};

/** No manager reaches the database for longer than the others wait for a manager, while players with inboxes play. */
const databaseOutage: Situation = (plan, random) => ({
  ...withSeveralManagers(plan, random),
  players: plan.players.map((_, n) => (n === 0 ? "slow" : "well")),
  contacts: plan.players.map((_, n) => (n === 0 ? "endpoint" : "inbox")),
  disturbances: [{ type: "database crash", at: random.int(2_500, DISTURBANCES_MS), downMs: random.int(5_500, 8_000) }],
});

/** One of several managers cannot reach any referee any more. */
const managerWithoutReferees: Situation = (plan, random) => {
  const several = withSeveralManagers(plan, random);
  const machine = random.pick(managerNames(several.managers));
  const at = random.int(1_000, DISTURBANCES_MS);
  const cuts = Array.from({ length: plan.referees }, (_, n): Disturbance => {
    return { type: "partition", at, ms: PERMANENT_MS, between: [machine, refereeName(n)], isSilent: false };
  });
  return { ...several, disturbances: cuts };
};

/**
 * The manager and a referee crash together, and the referee is back after the probes that a known referee may miss. The other referee with a match has no
 * capacity for another one when it gets its order again.
 */
const slowReferee: Situation = (plan, random) => {
  const at = random.int(2_000, DISTURBANCES_MS);
  return {
    ...{ ...plan, referees: 3, capacity: 1, players: ["slow", "well", "slow", "well"], format: undefined },
    disturbances: [
      { type: "crash", at, machine: MANAGER, downMs: random.int(0, 300) },
      { type: "crash", at, machine: refereeName(0), downMs: random.int(5_500, 8_000) },
    ],
  };
};

/** A silent player is killed when it is asked for a move, and is back when most of the time of its turn is over. */
const silentAfterCrash: Situation = (plan, random) => ({
  ...{ ...plan, players: plan.players.with(0, "silent") },
  disturbances: [
    {
      ...{ type: "crash at message", at: 0, machine: playerName(0), message: "MOVE_REQUEST", count: 1, afterMs: 0 },
      downMs: random.int(20_000, 25_000),
    },
  ],
});

/** A player of a dialect receives its messages late, so that it has not acknowledged the result of its match when a native player has. */
const lateAcknowledgement: Situation = (plan) => ({
  ...{
    ...plan,
    players: ["well", "well"],
    contacts: [DIALECT_PROGRAMS[Number(plan.seed) % DIALECT_PROGRAMS.length]] as Contact[],
  },
  disturbances: [{ type: "slow", at: 0, ms: 30_000, machine: playerName(0), delayMs: 2_000 }],
});

/** The connections of players with inboxes break while they play. */
const brokenPolls: Situation = (plan, random) => ({
  ...{ ...plan, players: plan.players.map(() => "well"), contacts: plan.players.map(() => "inbox") },
  disturbances: plan.players.map((_, n) => ({
    ...{ type: "lossy", at: random.int(1_000, 2_000), ms: 6_000, machine: playerName(n), share: 0.4 },
  })),
});

/** The clocks of the referees are set forward again and again while a player that was killed at a request is called again. */
const clocksSetDuringCalls: Situation = (plan, random) => ({
  ...{ ...plan, players: plan.players.map(() => "well"), contacts: undefined },
  disturbances: [
    {
      ...{ type: "crash at message", at: 0, machine: playerName(0), message: "MOVE_REQUEST", count: 2, afterMs: 0 },
      downMs: random.int(4_000, 8_000),
    },
    ...Array.from({ length: 2 * CLOCKS_SET }, (_, n): Disturbance => {
      const at = 1_000 + 500 * Math.floor(n / 2);
      return { type: "clock set", at, ms: 0, machine: refereeName(n % plan.referees), byMs: 60_000 };
    }),
  ],
});
const CLOCKS_SET = 12;

/** The referees are killed while their slow players have not yet chosen. When they are back, they ask these players again. */
const openTurnsAfterCrash: Situation = (plan, random) => ({
  ...{ ...plan, game: { id: "even_odd.v1", options: {} }, contacts: undefined },
  players: plan.players.map((_, n) => (n % 2 === 0 ? "slow" : "well")),
  disturbances: Array.from({ length: plan.referees }, (_, n): Disturbance => {
    const at = random.int(3_000, DISTURBANCES_MS);
    return { type: "crash", at, machine: refereeName(n), downMs: random.int(100, 1_000) };
  }),
});

const SITUATIONS: readonly Situation[] = [
  ...[stoppedReferee, unknownCommits, databaseOutage, managerWithoutReferees, slowReferee, silentAfterCrash],
  ...[lateAcknowledgement, brokenPolls, clocksSetDuringCalls, openTurnsAfterCrash],
];
