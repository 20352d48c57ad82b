import { createRandom, type Random } from "#shared/lib/rng.ts";

export type Behaviour = "well" | "slow" | "silent" | "illegal" | "garbage" | "declining";

/** What disturbs a run. Times are in ms since its start. */
export type Disturbance =
  /** The process is killed and started again after `downMs`. */
  | { readonly type: "crash"; readonly at: number; readonly machine: string; readonly downMs: number }
  /** The same at a commit: right before it, or after it and before anyone is told. */
  | {
      readonly type: "crash at commit";
      readonly at: number;
      readonly machine: string;
      readonly downMs: number;
      readonly isCommitted: boolean;
    }
  /** No connection between two machines: refused, or silent as a half-open one. */
  | {
      readonly type: "partition";
      readonly at: number;
      readonly ms: number;
      readonly between: readonly [string, string];
      readonly isSilent: boolean;
    }
  /** Requests and replies of a machine get lost with their connections, or arrive twice. */
  | {
      readonly type: "lossy";
      readonly at: number;
      readonly ms: number;
      readonly machine: string;
      readonly share: number;
    }
  | {
      readonly type: "slow";
      readonly at: number;
      readonly ms: number;
      readonly machine: string;
      readonly delayMs: number;
    }
  /** The machine's date is set. */
  | { readonly type: "clock set"; readonly at: number; readonly machine: string; readonly byMs: number }
  | { readonly type: "disk full"; readonly at: number; readonly ms: number; readonly machine: string };

/** One run: what is started and what disturbs it. A seed gives a plan; shrinking leaves disturbances out. */
export interface Plan {
  readonly seed: string;
  readonly game: { readonly id: string; readonly options: object };
  readonly referees: number;
  readonly players: readonly Behaviour[];
  readonly disturbances: readonly Disturbance[];
}

/** How long a player may take for a move. No disturbance of a well-behaved player lasts a third of it. */
export const MOVE_MS = 30_000;
/** Disturbances begin in this time. */
const DISTURBED_MS = 4_000;
const MAX_DISTURBANCES = 8;
const TOGETHER_MS = 500;
/** Longer than a run may take: the process does not come back. */
const FOR_GOOD_MS = 3_600_000;

const GAMES = [
  { id: "rps.v1", options: { best_of: 3 } },
  { id: "even_odd.v1", options: {} },
  { id: "tic_tac_toe.v1", options: {} },
] as const;
const ODD: readonly Behaviour[] = ["slow", "silent", "illegal", "garbage", "declining"];

export const MANAGER = "manager";
export const refereeName = (index: number): string => `referee ${index + 1}`;
export const playerName = (index: number): string => `player ${index + 1}`;

export function planOf(seed: string, gameIds: readonly string[]): Plan {
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
    game: random.pick(GAMES.filter(({ id }) => gameIds.includes(id))),
    referees,
    players,
    disturbances: disturbances.sort((a, b) => a.at - b.at),
  };
}

/** A referee goes for good, or is cut off from the manager for longer than that waits for it: the others take its matches. */
function lossOf(machine: string, random: Random): Disturbance {
  const at = random.int(0, DISTURBED_MS);
  if (random.next() < 0.3) return { type: "crash", at, machine, downMs: FOR_GOOD_MS };
  return { type: "partition", at, ms: random.int(3_000, 8_000), between: [machine, MANAGER], isSilent: false };
}

/** Half of the disturbances of a run come together, soon after `focus`. */
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
