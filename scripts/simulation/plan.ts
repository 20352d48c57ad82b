import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";

const Behaviour = z.enum(["well", "slow", "silent", "illegal", "garbage", "declining", "lying"]);
export type Behaviour = z.infer<typeof Behaviour>;

const ms = z.number().min(0);
const at = ms.describe("when it begins, ms since the start of the run");
const machine = z.string().min(1);

/** What disturbs a run. */
const Disturbance = z.discriminatedUnion("type", [
  /** The process is killed and started again after `downMs`. */
  z.strictObject({ type: z.literal("crash"), at, machine, downMs: ms }),
  /** The same at the next commit: before it is written, or after it and before the process knows that. */
  z.strictObject({ type: z.literal("crash at commit"), at, machine, downMs: ms, isCommitted: z.boolean() }),
  /** No connection between two machines: an error, or silence as on a half-open connection. */
  z.strictObject({
    type: z.literal("partition"),
    ...{ at, ms },
    between: z.tuple([machine, machine]).readonly(),
    isSilent: z.boolean(),
  }),
  /** This share of the machine's requests is lost with its connection, has its reply lost, or arrives twice. */
  z.strictObject({ type: z.literal("lossy"), at, ms, machine, share: z.number().min(0).max(1) }),
  z.strictObject({ type: z.literal("slow"), at, ms, machine, delayMs: ms }),
  /** The machine's date is set, and set back and again every quarter of a second during `ms`. */
  z.strictObject({ type: z.literal("clock set"), at, ms, machine, byMs: z.number() }),
  z.strictObject({ type: z.literal("disk full"), at, ms, machine }),
  /** The player is stopped by a signal and does not come back. It stays until its first match, so that the league can start. */
  z.strictObject({ type: z.literal("leave"), at, machine }),
  /** A second process of the player starts, with a copy of its files; not before its first match either. */
  z.strictObject({ type: z.literal("copy"), at, machine }),
]);
export type Disturbance = Readonly<z.infer<typeof Disturbance>>;

/** One run: the agents that are started, and what disturbs it. A seed gives a plan; shrinking leaves disturbances out. */
export const Plan = z.strictObject({
  seed: z.string().min(1),
  game: z.strictObject({ id: z.enum(gameIds), options: z.record(z.string(), z.unknown()) }).readonly(),
  referees: z.int().min(1).max(99),
  players: z.array(Behaviour).min(2).max(99).readonly(),
  disturbances: z.array(Disturbance).readonly(),
});
export type Plan = Readonly<z.infer<typeof Plan>>;

/** All processes are started in this time. */
export const START_MS = 1_000;
/** How long a player may take for a move. No disturbance of a well-behaved player lasts a third of it. */
export const MOVE_MS = 30_000;
/** Disturbances begin in this time. */
const DISTURBED_MS = 4_000;
const MAX_DISTURBANCES = 10;
const TOGETHER_MS = 500;
/** Longer than a run may take: the process does not come back. */
const FOR_GOOD_MS = 3_600_000;

/** A league may last so long if a player is silent, has left, or cannot be told from a silent one. */
const LONGEST_MS = 600_000;
/** Any other league is over so long after its last disturbance. A referee that is lost while the manager is down costs 10 s. */
const SETTLED_MS = 40_000;
/** How much longer a round with slow players takes. */
const SLOW_ROUND_MS = 30_000;

const GAMES: readonly Plan["game"][] = [
  { id: "rps.v1", options: { best_of: 3 } },
  { id: "even_odd.v1", options: {} },
  { id: "tic_tac_toe.v1", options: {} },
];

export const MANAGER = "manager";
export const refereeName = (index: number): string => `referee ${index + 1}`;
export const playerName = (index: number): string => `player ${index + 1}`;
export const copyName = (player: string): string => `${player} copy`;

/** How long the league of a plan may last, ms. */
export function longestMs({ players, disturbances }: Plan): number {
  const waits = disturbances.some((one) => one.type === "leave" || (one.type === "partition" && one.isSilent));
  if (waits || players.includes("silent")) return LONGEST_MS;
  const slowMs = players.includes("slow") ? players.length * SLOW_ROUND_MS : 0;
  return Math.max(START_MS, ...disturbances.map(endOf)) + SETTLED_MS + slowMs;
}

const endOf = (one: Disturbance): number => {
  if ("ms" in one) return one.at + one.ms;
  return "downMs" in one && one.downMs < FOR_GOOD_MS ? one.at + one.downMs : one.at;
};

/**
 * The plan of a seed. Its disturbances are of few kinds, and its players misbehave in one way: a fault that needs several disturbances of the same
 * kind is found sooner than by an even mixture of all ("swarm testing", Groce and others, ISSTA 2012).
 */
export function planOf(seed: string): Plan {
  const random = createRandom(`${seed}/plan`);
  const referees = random.int(1, 3);
  const misbehaviour = random.pick(Behaviour.options);
  const players = Array.from(
    { length: random.int(2, 5) },
    (): Behaviour => (random.next() < ODD_SHARE ? misbehaviour : "well"),
  );
  const place: Place = {
    random,
    referees: Array.from({ length: referees }, (_, n) => refereeName(n)),
    players: players.map((_, n) => playerName(n)),
    focus: random.int(0, DISTURBED_MS),
  };
  const kinds = random.shuffle(KINDS).slice(0, random.int(1, MAX_KINDS));
  const disturbances = Array.from({ length: random.int(0, MAX_DISTURBANCES) }, () => random.pick(kinds)(place));
  return {
    ...{ seed, game: random.pick(GAMES), referees, players },
    disturbances: disturbances.sort((a, b) => a.at - b.at),
  };
}

const ODD_SHARE = 0.3;
const MAX_KINDS = 4;

/** What a disturbance is chosen from. */
interface Place {
  readonly random: Random;
  readonly referees: readonly string[];
  readonly players: readonly string[];
  /** Half of the disturbances begin within 500 ms after this time. */
  readonly focus: number;
}

type Kind = (place: Place) => Disturbance;

const startIn = ({ random, focus }: Place): number =>
  random.next() < 0.5 ? focus + random.int(0, TOGETHER_MS) : random.int(0, DISTURBED_MS);
const serversIn = ({ referees }: Place): readonly string[] => [MANAGER, ...referees];
const machinesIn = (place: Place): readonly string[] => [...serversIn(place), ...place.players];

const crash: Kind = (place) => ({
  ...{ type: "crash", at: startIn(place), machine: place.random.pick(machinesIn(place)) },
  downMs: place.random.int(0, 5_000),
});

const crashAtCommit: Kind = (place) => ({
  ...{ type: "crash at commit", at: startIn(place), machine: place.random.pick(serversIn(place)) },
  ...{ downMs: place.random.int(0, 5_000), isCommitted: place.random.next() < 0.5 },
});

const partition: Kind = (place) => {
  const [one = MANAGER, other = MANAGER] = place.random.shuffle(machinesIn(place));
  return {
    ...{ type: "partition", at: startIn(place), ms: place.random.int(10, 8_000), between: [one, other] },
    isSilent: place.random.next() < 0.3,
  };
};

/** A referee cannot reach the manager, or is lost for good if there is another one. */
const refereeLost: Kind = (place) => {
  const { random, referees } = place;
  const machine = random.pick(referees);
  const [last] = referees.slice(1);
  if (last !== undefined && random.next() < 0.2) {
    return { type: "crash", at: startIn(place), machine: last, downMs: FOR_GOOD_MS };
  }
  const ms = random.int(200, 8_000);
  return { type: "partition", at: startIn(place), ms, between: [machine, MANAGER], isSilent: false };
};

const lossy: Kind = (place) => ({
  ...{ type: "lossy", at: startIn(place), ms: place.random.int(100, 8_000) },
  ...{ machine: place.random.pick(machinesIn(place)), share: place.random.next() * 0.5 },
});

const slow: Kind = (place) => ({
  ...{ type: "slow", at: startIn(place), ms: place.random.int(100, 8_000) },
  ...{ machine: place.random.pick(machinesIn(place)), delayMs: place.random.int(10, 2_000) },
});

const clockSet: Kind = (place) => ({
  ...{ type: "clock set", at: startIn(place), ms: place.random.int(0, 3_000) },
  ...{ machine: place.random.pick(serversIn(place)), byMs: place.random.int(-3_600_000, 3_600_000) },
});

const diskFull: Kind = (place) => ({
  ...{ type: "disk full", at: startIn(place), ms: place.random.int(10, 5_000) },
  machine: place.random.pick(serversIn(place)),
});

const leave: Kind = (place) => ({ type: "leave", at: startIn(place), machine: place.random.pick(place.players) });
const copy: Kind = (place) => ({ type: "copy", at: startIn(place), machine: place.random.pick(place.players) });

const KINDS: readonly Kind[] = [
  ...[crash, crashAtCommit, partition, refereeLost, lossy, slow, clockSet, diskFull, leave, copy],
];
