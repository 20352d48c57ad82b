import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";

const Behaviour = z.enum(["well", "slow", "silent", "illegal", "garbage", "declining"]);
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
  /** The machine's date is set. */
  z.strictObject({ type: z.literal("clock set"), at, machine, byMs: z.number() }),
  z.strictObject({ type: z.literal("disk full"), at, ms, machine }),
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

/** How long a player may take for a move. No disturbance of a well-behaved player lasts a third of it. */
export const MOVE_MS = 30_000;
/** Disturbances begin in this time. */
const DISTURBED_MS = 4_000;
const MAX_DISTURBANCES = 8;
const TOGETHER_MS = 500;
/** Longer than a run may take: the process does not come back. */
const FOR_GOOD_MS = 3_600_000;

const GAMES: readonly Plan["game"][] = [
  { id: "rps.v1", options: { best_of: 3 } },
  { id: "even_odd.v1", options: {} },
  { id: "tic_tac_toe.v1", options: {} },
];
const ODD: readonly Behaviour[] = ["slow", "silent", "illegal", "garbage", "declining"];

export const MANAGER = "manager";
export const refereeName = (index: number): string => `referee ${index + 1}`;
export const playerName = (index: number): string => `player ${index + 1}`;

/** The plan of a seed. */
export function planOf(seed: string): Plan {
  const random = createRandom(`${seed}/plan`);
  const referees = random.int(1, 3);
  const players = Array.from(
    { length: random.int(2, 5) },
    (): Behaviour => (random.next() < 0.15 ? random.pick(ODD) : "well"),
  );
  const machines = [
    MANAGER,
    ...Array.from({ length: referees }, (_, n) => refereeName(n)),
    ...players.map((_, n) => playerName(n)),
  ];
  const count = random.int(0, MAX_DISTURBANCES);
  const focus = random.int(0, DISTURBED_MS);
  const disturbances = Array.from({ length: count }, () => disturbance(random, machines, focus));
  if (referees > 1 && random.next() < 0.3) disturbances.push(lossOf(refereeName(referees - 1), random));
  return {
    seed,
    game: random.pick(GAMES),
    referees,
    players,
    disturbances: disturbances.sort((a, b) => a.at - b.at),
  };
}

/** A referee is lost for good, or cannot reach the manager until its matches have gone to other referees. */
function lossOf(machine: string, random: Random): Disturbance {
  const at = random.int(0, DISTURBED_MS);
  if (random.next() < 0.3) return { type: "crash", at, machine, downMs: FOR_GOOD_MS };
  return { type: "partition", at, ms: random.int(3_000, 8_000), between: [machine, MANAGER], isSilent: false };
}

/** Half of the disturbances of a run begin within 500 ms after `focus`. */
function disturbance(random: Random, machines: readonly string[], focus: number): Disturbance {
  const at = random.next() < 0.5 ? focus + random.int(0, TOGETHER_MS) : random.int(0, DISTURBED_MS);
  const machine = random.pick(machines);
  const servers = machines.filter((one) => !one.startsWith("player"));
  switch (random.int(0, 8)) {
    case 0:
    case 1:
      return { type: "crash", at, machine, downMs: random.int(0, 5_000) };
    case 2:
    case 3:
      return {
        type: "crash at commit",
        at,
        machine: random.pick(servers),
        downMs: random.int(0, 5_000),
        isCommitted: random.next() < 0.5,
      };
    case 4: {
      const other = random.pick(machines.filter((one) => one !== machine));
      return {
        type: "partition",
        at,
        ms: random.int(10, 8_000),
        between: [machine, other],
        isSilent: random.next() < 0.3,
      };
    }
    case 5:
      return { type: "lossy", at, ms: random.int(100, 8_000), machine, share: random.next() * 0.5 };
    case 6:
      return { type: "slow", at, ms: random.int(100, 8_000), machine, delayMs: random.int(10, 2_000) };
    case 7:
      return { type: "clock set", at, machine: random.pick(servers), byMs: random.int(-3_600_000, 3_600_000) };
    default:
      return { type: "disk full", at, ms: random.int(10, 5_000), machine: random.pick(servers) };
  }
}
