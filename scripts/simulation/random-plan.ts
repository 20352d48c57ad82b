import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { DIALECT_PROGRAMS, type DialectProgram } from "./dialect-programs.ts";
import { DATABASE, MANAGER, managerName, managerNames, playerName, refereeName } from "./machines/names.ts";
import { OPERATED_KINDS } from "./operated-plans.ts";
import {
  type Behaviour,
  type Contact,
  DISTURBANCES_MS,
  type Disturbance,
  isDialect,
  MISBEHAVIOURS,
  MOVE_MS,
  PERMANENT_MS,
  type Plan,
  type PlanKind,
  SLOW_MOVE_MS,
  SPRT_MATCHES,
} from "./plan.ts";

const GAMES: readonly Plan["game"][] = [
  { id: "rps.v1", options: { best_of: 3 } },
  { id: "even_odd.v1", options: {} },
  { id: "tic_tac_toe.v1", options: {} },
];

/** Formats besides the round robin. Their leagues have at most about twenty matches. */
const FORMATS: readonly NonNullable<Plan["format"]>[] = [
  { id: "swiss", options: {} },
  { id: "single-elimination", options: {} },
  { id: "double-elimination", options: {} },
  { id: "match", options: { games: 2 } },
  { id: "sprt", options: { elo0: 0, elo1: 400, max_games: SPRT_MATCHES } },
];

const MAX_DISTURBANCES = 10;
/** Half of the disturbances start within this time after the focus of the plan. */
const FOCUS_MS = 500;

/**
 * Returns the plan of a seed. Its disturbances are of few kinds, and its players misbehave in one way. Faults that need several disturbances of one
 * kind are found sooner than with all kinds in every plan ("swarm testing", Groce and others, ISSTA 2012).
 */
export function planOf(seed: string): Plan {
  const random = createRandom(`${seed}/plan`);
  const referees = random.int(1, 3);
  const misbehaviour = random.pick(MISBEHAVIOURS);
  const players = Array.from(
    { length: random.int(2, 5) },
    (): Behaviour => (random.next() < MISBEHAVING_SHARE ? misbehaviour : "well"),
  );
  const context: Context = {
    random,
    referees: Array.from({ length: referees }, (_, n) => refereeName(n)),
    players: players.map((_, n) => playerName(n)),
    focus: random.int(0, DISTURBANCES_MS),
  };
  const kinds = random.shuffle(KINDS).slice(0, random.int(1, MAX_KINDS));
  const disturbances = Array.from({ length: random.int(0, MAX_DISTURBANCES) }, () => random.pick(kinds)(context));
  const game = random.pick(GAMES);
  const machines = machinesIn(context);
  const plan: Plan = {
    seed,
    game,
    referees,
    players,
    managers: 1,
    disturbances: disturbances.sort((a, b) => a.at - b.at),
    withoutSockets: machines.filter(() => random.next() < SHARE_WITHOUT_SOCKETS),
    ...(random.next() < SHARE_WITH_CLOCKS && { clock: clockOf(random) }),
    ...(random.next() < SHARE_WITH_FORMATS && { format: random.pick(FORMATS) }),
  };
  return withOtherPlayers(rareSituation(plan) ?? ofKind(withManagers(plan)));
}

/** No player that behaves well or slowly loses on time: the initial time is that for a move, and the increment is longer than a slow player takes. */
const clockOf = (random: Random): TimeControl => ({
  initial_ms: MOVE_MS + random.int(0, 9_999),
  increment_ms: SLOW_MOVE_MS + random.int(1, 2_000),
});

const MISBEHAVING_SHARE = 0.3;
const SHARE_WITHOUT_SOCKETS = 0.25;
const SHARE_WITH_CLOCKS = 0.3;
const SHARE_WITH_FORMATS = 0.5;
const MAX_KINDS = 4;

/** The values from which the disturbances of a plan are chosen. */
interface Context {
  readonly random: Random;
  readonly referees: readonly string[];
  readonly players: readonly string[];
  /** The time, in ms, after which half of the disturbances start. */
  readonly focus: number;
}

/** Returns a random disturbance of one kind. */
type Kind = (context: Context) => Disturbance;

const randomStart = ({ random, focus }: Context): number =>
  random.next() < 0.5 ? focus + random.int(0, FOCUS_MS) : random.int(0, DISTURBANCES_MS);
const serversIn = ({ referees }: Context): readonly string[] => [MANAGER, ...referees];
const machinesIn = (context: Context): readonly string[] => [...serversIn(context), ...context.players];

const crash: Kind = (context) => ({
  type: "crash",
  at: randomStart(context),
  machine: context.random.pick(machinesIn(context)),
  downMs: context.random.int(0, 5_000),
});

const crashAtCommit: Kind = (context) => ({
  type: "crash at commit",
  at: randomStart(context),
  machine: context.random.pick(serversIn(context)),
  downMs: context.random.int(0, 5_000),
  isCommitted: context.random.next() < 0.5,
});

const partition: Kind = (context) => {
  const [one = MANAGER, other = MANAGER] = context.random.shuffle(machinesIn(context));
  return {
    type: "partition",
    at: randomStart(context),
    ms: context.random.int(10, 8_000),
    between: [one, other],
    isSilent: context.random.next() < 0.3,
  };
};

/** A referee cannot reach the manager, or it is killed permanently if there are others. */
const refereeLost: Kind = (context) => {
  const { random, referees } = context;
  const machine = random.pick(referees);
  const [last] = referees.slice(1);
  if (last !== undefined && random.next() < 0.2) {
    return { type: "crash", at: randomStart(context), machine: last, downMs: PERMANENT_MS };
  }
  const ms = random.int(200, 8_000);
  return { type: "partition", at: randomStart(context), ms, between: [machine, MANAGER], isSilent: false };
};

const lossy: Kind = (context) => ({
  type: "lossy",
  at: randomStart(context),
  ms: context.random.int(100, 8_000),
  machine: context.random.pick(machinesIn(context)),
  share: context.random.next() * 0.5,
});

const slow: Kind = (context) => ({
  type: "slow",
  at: randomStart(context),
  ms: context.random.int(100, 8_000),
  machine: context.random.pick(machinesIn(context)),
  delayMs: context.random.int(10, 2_000),
});

const clockSet: Kind = (context) => ({
  type: "clock set",
  at: randomStart(context),
  ms: context.random.int(0, 3_000),
  machine: context.random.pick(serversIn(context)),
  byMs: context.random.int(-3_600_000, 3_600_000),
});

const diskFull: Kind = (context) => ({
  type: "disk full",
  at: randomStart(context),
  ms: context.random.int(10, 5_000),
  machine: context.random.pick(serversIn(context)),
});

const leave: Kind = (context) => ({
  type: "leave",
  at: randomStart(context),
  machine: context.random.pick(context.players),
});
const copy: Kind = (context) => ({
  type: "copy",
  at: randomStart(context),
  machine: context.random.pick(context.players),
});

const KINDS: readonly Kind[] = [
  crash,
  crashAtCommit,
  partition,
  refereeLost,
  lossy,
  slow,
  clockSet,
  diskFull,
  leave,
  copy,
];

/** A referee that misses ten probes loses its matches. */
const [MIN_CUT_MS, MAX_CUT_MS] = [14_500, 17_000];
/** Copies of messages from before the cut arrive after it. */
const MAX_COPY_MS = 30_000;
/** The time of a match whose result a player acknowledges too late: shorter than the time for the acknowledgement, 5 s. */
const SHORT_MATCH_MS = 4_000;
/** The player is back after the second attempt at the match has taken too long, too, and in time for the third and last one. */
const [MIN_DOWN_MS, MAX_DOWN_MS] = [8_300, 8_800];

/**
 * A slow match moves to another referee, because its referee cannot be reached. Messages of the first attempt arrive again during the second one, also
 * START_GAME after MATCH_WITHDRAWN.
 */
const toOtherReferee: PlanKind = ({ random, plan }) => {
  const { capacity: _, ...rest } = plan;
  const referees = Math.max(2, plan.referees);
  const players = plan.players.map((behaviour, n) => (n === 0 ? "slow" : behaviour === "slow" ? "well" : behaviour));
  const at = random.int(3_000, DISTURBANCES_MS);
  const machines = [
    ...Array.from({ length: referees }, (_, n) => refereeName(n)),
    ...players.map((_, n) => playerName(n)),
  ];
  const cut = refereeName(random.int(0, referees - 1));
  const disturbances: readonly Disturbance[] = [
    ...machines.map(
      (machine): Disturbance => ({
        type: "late copies",
        at: 0,
        ms: at + MAX_CUT_MS,
        machine,
        share: 0.5,
        delayMs: MAX_COPY_MS,
      }),
    ),
    { type: "partition", at, ms: random.int(MIN_CUT_MS, MAX_CUT_MS), between: [cut, MANAGER], isSilent: false },
  ];
  return {
    ...rest,
    referees,
    players,
    disturbances,
    managers: 1,
    withoutSockets: [MANAGER, ...machines],
  };
};

/**
 * A player of a dialect does not acknowledge the result of a match, so that its referee is still waiting when the time of the match is over. The referee
 * gets the match again, and once more.
 */
const toSameReferee: PlanKind = ({ random, plan }) => {
  const program = random.pick<DialectProgram>(["handle message", "league.v1"]);
  const message = program === "league.v1" ? "GAME_END" : "GAME_OVER";
  const downMs = random.int(MIN_DOWN_MS, MAX_DOWN_MS);
  return {
    seed: plan.seed,
    game: plan.game,
    referees: 1,
    players: ["well", "well"],
    contacts: [program],
    managers: 1,
    withoutSockets: plan.withoutSockets,
    matchMs: SHORT_MATCH_MS,
    disturbances: [{ type: "crash at message", at: 0, machine: playerName(0), message, count: 1, afterMs: 0, downMs }],
  };
};

/** The kinds of plans in which a match moves to another referee, or comes back to the same referee. */
const MOVED_MATCH_KINDS: readonly PlanKind[] = [toOtherReferee, toOtherReferee, toSameReferee];

const PLAN_KINDS = [...OPERATED_KINDS, ...MOVED_MATCH_KINDS];
/** The number of the kinds, and of plans without a kind, in a row of seeds. */
const EVERY = 29;

/**
 * Returns the plan, or in three of four cases one of a kind. The number of the seed determines the kind, so that any hundred seeds in a row have each kind
 * at least twice. Plans without a number as their seed stay as they are.
 */
function ofKind(plan: Plan): Plan {
  const number = Number(plan.seed);
  const kind = Number.isInteger(number) ? PLAN_KINDS[number % EVERY] : undefined;
  return kind ? kind({ random: createRandom(`${plan.seed}/kind`), plan }) : plan;
}

const SHARE_WITH_MANAGERS = 0.3;
const MAX_MANAGER_DISTURBANCES = 6;
const MAX_MANAGER_KINDS = 3;

/** Returns the plan, or in three of ten cases a plan in which two or three managers take the place of the only one, with disturbances of their database. */
function withManagers(plan: Plan): Plan {
  const random = createRandom(`${plan.seed}/managers`);
  return random.next() < SHARE_WITH_MANAGERS ? withSeveralManagers(plan, random) : plan;
}

/** Puts two or three managers in the place of the only one. */
function withSeveralManagers(plan: Plan, random: Random): Plan {
  const managers = random.int(2, 3);
  const anyManager = (): string => managerName(random.int(0, managers - 1));
  const kinds = random.shuffle(MANAGER_KINDS).slice(0, random.int(1, MAX_MANAGER_KINDS));
  const added = Array.from({ length: random.int(0, MAX_MANAGER_DISTURBANCES) }, () =>
    random.pick(kinds)(random, anyManager),
  );
  const disturbances = [...plan.disturbances.map((one) => toManager(one, anyManager)), ...added];
  return {
    ...plan,
    managers,
    capacity: random.int(1, 3),
    disturbances: disturbances.sort((a, b) => a.at - b.at),
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
  type: "crash",
  at: start(random),
  machine: anyManager(),
  downMs: random.int(0, 8_000),
});
const managerCrashAtCommit: ManagerKind = (random, anyManager) => ({
  type: "crash at commit",
  at: start(random),
  machine: anyManager(),
  downMs: random.int(0, 8_000),
  isCommitted: random.next() < 0.5,
});
const stop: ManagerKind = (random, anyManager) => ({
  type: "stop",
  at: start(random),
  ms: random.int(100, 10_000),
  machine: anyManager(),
});
const cut: ManagerKind = (random, anyManager) => ({
  type: "partition",
  at: start(random),
  ms: random.int(100, 10_000),
  between: [anyManager(), DATABASE],
  isSilent: random.next() < 0.5,
});
const databaseCrash: ManagerKind = (random) => ({
  type: "database crash",
  at: start(random),
  downMs: random.int(0, 5_000),
});
const commitFaults: ManagerKind = (random, anyManager) => ({
  type: "commit faults",
  at: start(random),
  ms: random.int(100, 8_000),
  machine: anyManager(),
  share: random.next(),
});
const slowDatabase: ManagerKind = (random) => ({
  type: "slow",
  at: start(random),
  ms: random.int(100, 8_000),
  machine: DATABASE,
  delayMs: random.int(10, 1_000),
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

/** The seeds of the situations are apart, so that they do not take the place of the same kind of plans with operators again and again. */
const [SITUATIONS_EVERY, SITUATIONS_APART] = [31, 3];

/** Returns a plan with a situation that random disturbances rarely cause. `plan` has one manager. */
type Situation = (plan: Plan, random: Random) => Plan;

/**
 * Returns the plan with a rare situation; null if the number of its seed has none. Any hundred seeds in a row have each situation three times.
 */
function rareSituation(plan: Plan): Plan | null {
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
      type: "commit faults",
      at: random.int(1_000, 2_500),
      ms: random.int(3_000, 5_000),
      machine,
      share: 0.5,
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
    ...plan,
    referees: 3,
    capacity: 1,
    players: ["slow", "well", "slow", "well"],
    format: undefined,
    disturbances: [
      { type: "crash", at, machine: MANAGER, downMs: random.int(0, 300) },
      { type: "crash", at, machine: refereeName(0), downMs: random.int(5_500, 8_000) },
    ],
  };
};

/** A silent player is killed when it is asked for a move, and is back when most of the time of its turn is over. */
const silentAfterCrash: Situation = (plan, random) => ({
  ...plan,
  players: plan.players.with(0, "silent"),
  disturbances: [
    {
      type: "crash at message",
      at: 0,
      machine: playerName(0),
      message: "MOVE_REQUEST",
      count: 1,
      afterMs: 0,
      downMs: random.int(20_000, 25_000),
    },
  ],
});

/** A player of a dialect receives its messages late, so that it has not acknowledged the result of its match when a native player has. */
const lateAcknowledgement: Situation = (plan) => ({
  ...plan,
  players: ["well", "well"],
  contacts: [DIALECT_PROGRAMS[Number(plan.seed) % DIALECT_PROGRAMS.length]] as Contact[],
  disturbances: [{ type: "slow", at: 0, ms: 30_000, machine: playerName(0), delayMs: 2_000 }],
});

/** The connections of players with inboxes break while they play. */
const brokenPolls: Situation = (plan, random) => ({
  ...plan,
  players: plan.players.map(() => "well"),
  contacts: plan.players.map(() => "inbox"),
  disturbances: plan.players.map((_, n) => ({
    type: "lossy",
    at: random.int(1_000, 2_000),
    ms: 6_000,
    machine: playerName(n),
    share: 0.4,
  })),
});

/** The clocks of the referees are set forward again and again while a player that was killed at a request is called again. */
const clocksSetDuringCalls: Situation = (plan, random) => ({
  ...plan,
  players: plan.players.map(() => "well"),
  contacts: undefined,
  disturbances: [
    {
      type: "crash at message",
      at: 0,
      machine: playerName(0),
      message: "MOVE_REQUEST",
      count: 2,
      afterMs: 0,
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
  ...plan,
  game: { id: "even_odd.v1", options: {} },
  contacts: undefined,
  players: plan.players.map((_, n) => (n % 2 === 0 ? "slow" : "well")),
  disturbances: Array.from({ length: plan.referees }, (_, n): Disturbance => {
    const at = random.int(3_000, DISTURBANCES_MS);
    return { type: "crash", at, machine: refereeName(n), downMs: random.int(100, 1_000) };
  }),
});

/** An operator removes a player and erases its data while the league runs: it asks again until the match of the player is over. */
const erasedPlayer: Situation = (plan, random) => {
  const after = {
    operator: 1,
    after: "start",
    isEnvelope: random.next() < 0.5,
    isForged: false,
    players: ["P1"],
  } as const;
  const forgotten = Array.from(
    { length: 10 },
    (_, index) => ({ ...after, tool: "forget_player", at: 250 + 400 * index }) as const,
  );
  return {
    ...plan,
    players: ["well", "well", "slow", "slow"],
    contacts: undefined,
    disturbances: [],
    calls: [{ ...after, tool: "remove_player", at: 200 }, ...forgotten],
  };
};

const SITUATIONS: readonly Situation[] = [
  stoppedReferee,
  unknownCommits,
  databaseOutage,
  managerWithoutReferees,
  slowReferee,
  silentAfterCrash,
  lateAcknowledgement,
  brokenPolls,
  clocksSetDuringCalls,
  openTurnsAfterCrash,
  erasedPlayer,
];

const SHARE_WITH_INBOXES = 0.2;
const SHARE_WITH_DIALECTS = 0.2;
/** The share of the players with another contact, in plans with such players. */
const SHARE_OF_CONTACTS = 0.5;
const SHARE_WITH_HOSTILE = 0.12;
const SHARE_WITH_LATE = 0.1;
const SHARE_WITH_CRASHES = 0.12;
const MAX_LATE_MS = 6_000;
/** A match of even/odd or of a long rock, paper, scissors has a history after its first round. */
const LONG_MATCH = { id: "rps.v1", options: { best_of: 5 } } as const;
/** Requests for moves, in the native protocol and in the dialects. */
const MOVE_CALLS = { native: "MOVE_REQUEST", evenOdd: "CHOOSE_PARITY_CALL", other: "GAME_MOVE_CALL" } as const;

/** The number of the kinds of `rarePlayerOf`, and of plans without one, in a row of seeds. */
const RARE_EVERY = 23;
const RARE_PLAYERS = ["hostile", "makeup", "forfeit", ...DIALECT_PROGRAMS] as const;
type RarePlayer = (typeof RARE_PLAYERS)[number];

/** Returns the player that a plan must have, by the number of its seed: a hostile one, a late one that its league admits, or a program of a dialect. */
const rarePlayerOf = ({ seed }: Plan): RarePlayer | undefined => RARE_PLAYERS[Number(seed) % RARE_EVERY];

/**
 * Adds players with inboxes, players of other dialects, hostile and late players to some plans, and players that crash during a match with a history. A
 * plan that has such players already stays as it is.
 */
function withOtherPlayers(plan: Plan): Plan {
  if (plan.contacts) return plan;
  const rare = rarePlayerOf(plan);
  const random = createRandom(`${plan.seed}/players`);
  const [contact, hostile, late, crash] = [random.next(), random.next(), random.next(), random.next()];
  const withContacts =
    contact < SHARE_WITH_INBOXES + SHARE_WITH_DIALECTS ? withOtherContacts(plan, contact, random) : plan;
  const withReset = withContactOfReset(isDialect(rare) ? withProgram(withContacts, rare) : withContacts);
  const withHostile =
    rare === "hostile" || hostile < SHARE_WITH_HOSTILE
      ? withHostilePlayer(withReset, random, rare === "hostile")
      : withReset;
  const isAdmitted = rare === "makeup" || rare === "forfeit";
  const withLate =
    isAdmitted || late < SHARE_WITH_LATE
      ? withLatePlayer(isAdmitted ? admitting(withHostile, rare) : withHostile, random, isAdmitted)
      : withHostile;
  return crash < SHARE_WITH_CRASHES ? withCrashesInMatches(withLate, random) : withLate;
}

/** Gives another contact to players that behave well: an inbox, or a program of a dialect. */
function withOtherContacts(plan: Plan, chosen: number, random: Random): Plan {
  const isWithInboxes = chosen < SHARE_WITH_INBOXES;
  // A registration in a dialect does not choose between two leagues.
  if (!isWithInboxes && (hasOtherLeague(plan) || isTooShort(plan))) return plan;
  const contacts = plan.players.map((behaviour, n): Contact => {
    if (behaviour !== "well" || needsEndpoint(plan, n) || random.next() >= SHARE_OF_CONTACTS) return "endpoint";
    return isWithInboxes ? "inbox" : random.pick(DIALECT_PROGRAMS);
  });
  // A copy of a program of a dialect is another player, and two processes with one inbox cannot be distinguished.
  const isOther = (machine: string): boolean =>
    contacts.some((one, n) => one !== "endpoint" && playerName(n) === machine);
  const disturbances = plan.disturbances.filter((one) => one.type !== "copy" || !isOther(one.machine));
  return { ...plan, contacts, disturbances };
}

/** Whether a match may be over before its round is announced to a player of a dialect that does not answer. Its match would begin again and again. */
const isTooShort = ({ matchMs = ANNOUNCEMENT_MS }: Plan): boolean => matchMs < ANNOUNCEMENT_MS;
/** The time limit of an announcement (PROTOCOL.md, section 2). */
const ANNOUNCEMENT_MS = 10_000;

const hasOtherLeague = ({ former, added, visitor, isSecondLeague }: Plan): boolean =>
  isSecondLeague === true || [former, added, visitor].some((index) => index !== undefined);

/** Whether the plan is about the endpoint of a player: another player takes it, or a visitor calls tools at it. */
const needsEndpoint = ({ former, visitor }: Plan, index: number): boolean => index === former || index === visitor;

/** Lets the first player play in a dialect. */
function withProgram(plan: Plan, program: DialectProgram): Plan {
  const { players, contacts = players.map((): Contact => "endpoint"), disturbances } = plan;
  if (hasOtherLeague(plan) || isTooShort(plan)) return plan;
  const kept = disturbances.filter((one) => one.type !== "copy" || one.machine !== playerName(0));
  return { ...plan, players: players.with(0, "well"), contacts: contacts.with(0, program), disturbances: kept };
}

/** Gives the player whose token an operator resets an inbox, or lets it play in a dialect, in two of three plans. */
function withContactOfReset(plan: Plan): Plan {
  const { calls = [], players, contacts = players.map((): Contact => "endpoint") } = plan;
  const reset = calls.find(({ tool, isForged }) => tool === "reset_token" && !isForged)?.players?.[0];
  const index = Number(reset?.slice(1)) - 1;
  const number = Number(plan.seed);
  const contact = [undefined, "inbox", DIALECT_PROGRAMS[number % DIALECT_PROGRAMS.length]][number % 3] as
    | Contact
    | undefined;
  if (!players[index] || contact === undefined || hasOtherLeague(plan)) return plan;
  return { ...plan, players: players.with(index, "well"), contacts: contacts.with(index, contact) };
}

/** `isForced`: any player may become hostile, and no player lies. */
function withHostilePlayer(plan: Plan, random: Random, isForced: boolean): Plan {
  const { contacts, calls = [] } = plan;
  const players = plan.players.map((behaviour) => (isForced && behaviour === "lying" ? "well" : behaviour));
  const candidates = players.flatMap((behaviour, n) =>
    (behaviour === "well" || isForced) &&
    (contacts?.[n] ?? "endpoint") === "endpoint" &&
    n !== plan.visitor &&
    n !== plan.former
      ? [n]
      : [],
  );
  // A lying player sends others its own tokens, which they could then use. The name and the endpoint of an erased player are free.
  const isErasing = calls.some(({ tool, isForged }) => tool === "forget_player" && !isForged);
  if (candidates.length === 0 || players.includes("lying") || isErasing) return plan;
  const hostile = random.pick(candidates);
  const attacked = players.map((behaviour, n) => (n === hostile ? "hostile" : behaviour));
  if (!isForced || contacts || hasOtherLeague(plan)) return { ...plan, players: attacked };
  // The hostile player also answers for these programs, whose answers come in separate requests.
  const disturbances = plan.disturbances.filter(({ type }) => type !== "copy");
  return {
    ...plan,
    players: attacked,
    disturbances,
    contacts: attacked.map((behaviour) => (behaviour === "well" ? "later answers" : "endpoint")),
  };
}

/** Returns a plan whose league can admit a late player in a way, with at least three players. */
function admitting(plan: Plan, lateEntry: "makeup" | "forfeit"): Plan {
  const { players, format, calls = [] } = plan;
  // Only the format of the plan has the options that an operator changes.
  if (hasOtherLeague(plan) || calls.some(({ extended }) => extended)) return plan;
  const enough = players.length < 3 ? [...players, "well" as const] : players;
  if (lateEntry === "makeup") return { ...plan, players: enough, format: undefined };
  return { ...plan, players: enough, format: format?.id === "match" ? format : { id: "swiss", options: {} } };
}

/** Lets the last of three or more players come late. The rules of the league admit it, or not; always if `isAdmitted`. */
function withLatePlayer(plan: Plan, random: Random, isAdmitted: boolean): Plan {
  const { players, format } = plan;
  // The players that enter another league first are those of their kind of plan.
  if (players.length < 3 || hasOtherLeague(plan)) return plan;
  const lateMs = players.map((_, n) => (n === players.length - 1 ? random.int(1_000, MAX_LATE_MS) : 0));
  const accepting =
    format === undefined ? "makeup" : format.id === "swiss" || format.id === "match" ? "forfeit" : "closed";
  return { ...plan, lateMs, lateEntry: random.next() < 0.75 || isAdmitted ? accepting : "closed" };
}

/** Kills players when they are asked for a move in the middle of a match. */
function withCrashesInMatches(plan: Plan, random: Random): Plan {
  const game = plan.game.id === "tic_tac_toe.v1" ? plan.game : plan.game.id === "rps.v1" ? LONG_MATCH : plan.game;
  const crashes = plan.players.flatMap((_, n): readonly Disturbance[] => {
    if (random.next() >= 0.5) return [];
    const isClassroom = isDialect(plan.contacts?.[n]) && plan.contacts?.[n] !== "league.v1";
    const call = isClassroom ? (game.id === "even_odd.v1" ? MOVE_CALLS.evenOdd : MOVE_CALLS.other) : MOVE_CALLS.native;
    return [
      {
        type: "crash at message",
        at: random.int(0, DISTURBANCES_MS / 2),
        machine: playerName(n),
        message: call,
        count: random.int(2, 6),
        afterMs: random.next() < 0.5 ? 0 : random.int(1, 80),
        downMs: random.int(0, 2_000),
      },
    ];
  });
  return { ...plan, game, disturbances: sorted([...plan.disturbances, ...crashes]) };
}

const sorted = (disturbances: readonly Disturbance[]): readonly Disturbance[] =>
  disturbances.toSorted((a, b) => a.at - b.at);
