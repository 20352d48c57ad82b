import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { TimeControl } from "#shared/lib/time-control.ts";
import { DIALECT_PROGRAMS } from "./dialect-programs.ts";
import { DISTURBANCES_MS, Disturbance, endOf, PERMANENT_MS } from "./disturbance.ts";
import { DATABASE, MANAGER, playerName, refereeName } from "./machines/names.ts";
import { withManagers } from "./manager-plans.ts";
import { MOVED_MATCH_KINDS } from "./moved-match-plans.ts";
import { addedBy, endOfOperation, OPERATED_KINDS, OperatedLeague } from "./operator-plans.ts";
import { withOtherPlayers } from "./player-plans.ts";
import { rareSituation } from "./rare-plans.ts";

const MISBEHAVIOURS = ["well", "slow", "silent", "unsteady", "illegal", "garbage", "declining", "lying"] as const;
const Behaviour = z.enum([...MISBEHAVIOURS, "hostile"]);
export type Behaviour = z.infer<typeof Behaviour>;

/** A player with an inbox, or a program that plays in another dialect. */
const Contact = z.enum(["endpoint", "inbox", ...DIALECT_PROGRAMS]);
export type Contact = z.infer<typeof Contact>;

/** The agents of one run and the disturbances that happen to them. A seed determines a plan; shrinking removes disturbances. */
export const Plan = z.strictObject({
  seed: z.string().min(1),
  game: z.strictObject({ id: z.enum(gameIds), options: z.record(z.string(), z.unknown()) }).readonly(),
  referees: z.int().min(1).max(99),
  players: z.array(Behaviour).min(2).max(99).readonly(),
  /** How the agents exchange messages with each player; absent for a native player that is called at its endpoint. */
  contacts: z.array(Contact).readonly().optional(),
  /** The times, in ms, at which players start that come late; 0 or absent for the others. The league does not wait for them. */
  lateMs: z.array(z.number().min(0)).readonly().optional(),
  /** The `late_entry` of the league; absent for the default. */
  lateEntry: z.enum(["closed", "forfeit", "makeup"]).optional(),
  disturbances: z.array(Disturbance).readonly(),
  /** The machines that accept no WebSockets, although their agents offer them: a proxy in front of them does not forward the requests. */
  withoutSockets: z.array(z.string().min(1)).readonly().default([]),
  /** The managers, which share a database if there are several. */
  managers: z.int().min(1).max(3).default(1),
  /** The `max_concurrent_matches` of each referee; absent for the default. */
  capacity: z.int().min(1).optional(),
  /** The time of a match, `match_ms`, in ms; absent for the default. */
  matchMs: z.int().min(1).optional(),
  /** The clocks of the matches; absent for matches without clocks. */
  clock: TimeControl.optional(),
  /** The format of the league; absent for a round robin. */
  format: z
    .strictObject({ id: z.string(), options: z.record(z.string(), z.unknown()) })
    .readonly()
    .optional(),
  ...OperatedLeague,
});
export type Plan = Readonly<z.infer<typeof Plan>>;

/** All processes are started within this time. */
export const START_MS = 1_000;
/** The time limit for a move. A disturbance is shorter than a third of it. */
export const MOVE_MS = 30_000;
/** The time that a slow player takes for a move. */
export const SLOW_MOVE_MS = MOVE_MS / 10;
const MAX_DISTURBANCES = 10;
/** Half of the disturbances start within this time after the focus of the plan. */
const FOCUS_MS = 500;
/** The time limit of a league if a player is silent, has left, or cannot be distinguished from a silent player. */
const MAX_LEAGUE_MS = 600_000;
/** The maximum duration of a round with silent players, if it has no other disturbances. A player with a clock has up to 46 s. */
const SILENT_ROUND_MS = 50_000;
/** The time limit of other leagues after the last disturbance. A referee that is lost while the manager is down costs 10 s of it. */
const MAX_RECOVERY_MS = 40_000;
/** The additional time with several managers: the jobs of one that is lost are given to another one after ten seconds. */
const MAX_TAKEOVER_MS = 30_000;
/** The additional time for each round with slow players. */
const SLOW_ROUND_MS = 30_000;
/** The number of rounds of formats besides the round robin, for each player: drawn pairings of eliminations are repeated. */
const ROUNDS_PER_PLAYER = 4;

const GAMES: readonly Plan["game"][] = [
  { id: "rps.v1", options: { best_of: 3 } },
  { id: "even_odd.v1", options: {} },
  { id: "tic_tac_toe.v1", options: {} },
];

const SPRT_MATCHES = 10;
/** Formats besides the round robin. Their leagues have at most about twenty matches. */
const FORMATS: readonly NonNullable<Plan["format"]>[] = [
  { id: "swiss", options: {} },
  { id: "single-elimination", options: {} },
  { id: "double-elimination", options: {} },
  { id: "match", options: { games: 2 } },
  { id: "sprt", options: { elo0: 0, elo1: 400, max_games: SPRT_MATCHES } },
];

/** Returns the time limit of the league of a plan. */
export function timeLimitMs(plan: Plan): number {
  const { players, disturbances, managers } = plan;
  const hasSilence = disturbances.some((one) => one.type === "leave" || isSilentPartition(one));
  const rounds = roundsOf(plan);
  if (hasSilence || players.includes("silent") || players.includes("unsteady"))
    return Math.max(MAX_LEAGUE_MS, rounds * SILENT_ROUND_MS);
  const slowMs = players.includes("slow") ? rounds * SLOW_ROUND_MS : 0;
  const recoveryMs = MAX_RECOVERY_MS + (managers > 1 ? MAX_TAKEOVER_MS : 0);
  return Math.max(START_MS, endOfOperation(plan), ...disturbances.map(endOf)) + recoveryMs + slowMs;
}

/** The maximum number of rounds of the league of a plan. */
export function roundsOf({
  players,
  format,
  lateEntry,
  calls,
}: Pick<Plan, "players" | "format" | "lateEntry" | "calls">): number {
  const added = addedBy({ calls });
  const perPlayer = format ? ROUNDS_PER_PLAYER : lateEntry === "makeup" ? 2 : 1;
  return players.length * perPlayer * added.factor + added.matches;
}

/** Whether machines cannot reach each other and are not told so. A manager notices that it has lost the database. */
export const isSilentPartition = (one: Disturbance): boolean =>
  one.type === "partition" && one.isSilent && !one.between.includes(DATABASE);

/** The number of matches that the format of a plan plays at the same time besides those of one round. */
export function matchesAtOnce({ players, format, calls }: Plan): number {
  const { matches, factor } = addedBy({ calls });
  if (format?.id === "match") return factor * players.length * (players.length - 1);
  return format?.id === "sprt" ? SPRT_MATCHES : matches;
}

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
    ...{ seed, game, referees, players, managers: 1 },
    disturbances: disturbances.sort((a, b) => a.at - b.at),
    withoutSockets: machines.filter(() => random.next() < SHARE_WITHOUT_SOCKETS),
    ...(random.next() < SHARE_WITH_CLOCKS && { clock: clockOf(random) }),
    ...(random.next() < SHARE_WITH_FORMATS && { format: random.pick(FORMATS) }),
  };
  return withOtherPlayers(rareSituation(plan) ?? ofKind(withManagers(plan)));
}

/** What a kind of plans decides from. */
export interface KindContext {
  readonly random: Random;
  readonly plan: Plan;
}
/** Returns the plan with what belongs to a kind: an operator, a rare config, or a match that moves. */
export type PlanKind = (context: KindContext) => Plan;

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
  ...{ type: "crash", at: randomStart(context), machine: context.random.pick(machinesIn(context)) },
  downMs: context.random.int(0, 5_000),
});

const crashAtCommit: Kind = (context) => ({
  ...{ type: "crash at commit", at: randomStart(context), machine: context.random.pick(serversIn(context)) },
  ...{ downMs: context.random.int(0, 5_000), isCommitted: context.random.next() < 0.5 },
});

const partition: Kind = (context) => {
  const [one = MANAGER, other = MANAGER] = context.random.shuffle(machinesIn(context));
  return {
    ...{ type: "partition", at: randomStart(context), ms: context.random.int(10, 8_000), between: [one, other] },
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
  ...{ type: "lossy", at: randomStart(context), ms: context.random.int(100, 8_000) },
  ...{ machine: context.random.pick(machinesIn(context)), share: context.random.next() * 0.5 },
});

const slow: Kind = (context) => ({
  ...{ type: "slow", at: randomStart(context), ms: context.random.int(100, 8_000) },
  ...{ machine: context.random.pick(machinesIn(context)), delayMs: context.random.int(10, 2_000) },
});

const clockSet: Kind = (context) => ({
  ...{ type: "clock set", at: randomStart(context), ms: context.random.int(0, 3_000) },
  ...{ machine: context.random.pick(serversIn(context)), byMs: context.random.int(-3_600_000, 3_600_000) },
});

const diskFull: Kind = (context) => ({
  ...{ type: "disk full", at: randomStart(context), ms: context.random.int(10, 5_000) },
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
  ...[crash, crashAtCommit, partition, refereeLost, lossy, slow, clockSet, diskFull, leave, copy],
];
