import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import type { Random } from "#shared/lib/rng.ts";
import { TimeControl } from "#shared/lib/time-control.ts";
import { DIALECT_PROGRAMS } from "./dialect-programs.ts";
import { Disturbance, endOf } from "./disturbance.ts";
import { DATABASE } from "./machines/names.ts";
import { addedBy, endOfOperation, OperatedLeague } from "./operator-plans.ts";

export const MISBEHAVIOURS = [
  "well",
  "slow",
  "silent",
  "unsteady",
  "illegal",
  "garbage",
  "declining",
  "lying",
] as const;
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

/** The matches of a league of the format `sprt`. */
export const SPRT_MATCHES = 10;
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

/** What a kind of plans decides from. */
export interface KindContext {
  readonly random: Random;
  readonly plan: Plan;
}
/** Returns the plan with what belongs to a kind: an operator, a rare config, or a match that moves. */
export type PlanKind = (context: KindContext) => Plan;
