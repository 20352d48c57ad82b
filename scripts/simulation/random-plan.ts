import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { DISTURBANCES_MS, type Disturbance, PERMANENT_MS } from "./disturbance.ts";
import { MANAGER, playerName, refereeName } from "./machines/names.ts";
import { withManagers } from "./manager-plans.ts";
import { MOVED_MATCH_KINDS } from "./moved-match-plans.ts";
import { OPERATED_KINDS } from "./operated-plans.ts";
import { withOtherPlayers } from "./other-players.ts";
import { type Behaviour, MISBEHAVIOURS, MOVE_MS, type Plan, SLOW_MOVE_MS, SPRT_MATCHES } from "./plan.ts";
import { rareSituation } from "./rare-plans.ts";

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
    ...{ seed, game, referees, players, managers: 1 },
    disturbances: disturbances.sort((a, b) => a.at - b.at),
    withoutSockets: machines.filter(() => random.next() < SHARE_WITHOUT_SOCKETS),
    ...(random.next() < SHARE_WITH_CLOCKS && { clock: clockOf(random) }),
    ...(random.next() < SHARE_WITH_FORMATS && { format: random.pick(FORMATS) }),
  };
  return withOtherPlayers(rareSituation(plan) ?? ofKind(withManagers(plan)));
}

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
