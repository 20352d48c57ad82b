import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import type { Random } from "#shared/lib/rng.ts";
import { TimeControl } from "#shared/lib/time-control.ts";
import { DIALECT_PROGRAMS, type DialectProgram } from "./dialect-programs.ts";
import { DATABASE, MANAGER, operatorName, playerName } from "./machines/names.ts";

const ms = z.number().min(0);
const at = ms.describe("the start in ms since the start of the run");
const machine = z.string().min(1);

/** A disturbance of a run. */
export const Disturbance = z.discriminatedUnion("type", [
  /** The process is killed and started again after `downMs`. */
  z.strictObject({ type: z.literal("crash"), at, machine, downMs: ms }),
  /** The process is killed at its next commit: before the commit is written, or after it and before the process is notified. */
  z.strictObject({ type: z.literal("crash at commit"), at, machine, downMs: ms, isCommitted: z.boolean() }),
  /** The process is killed `afterMs` after the arrival of its next message of a type, or of the `count`th one. The answer is lost if `afterMs` is 0. */
  z.strictObject({
    type: z.literal("crash at message"),
    at,
    machine,
    message: z.string().min(1),
    count: z.int().min(1),
    afterMs: ms,
    downMs: ms,
  }),
  /** Of this share of the requests to a machine by POST a copy arrives up to `delayMs` later, when its caller no longer waits. */
  z.strictObject({ type: z.literal("late copies"), at, ms, machine, share: z.number().min(0).max(1), delayMs: ms }),
  /** Two machines cannot connect to each other. The caller gets an error or, as on a half-open connection, no answer. */
  z.strictObject({
    type: z.literal("partition"),
    at,
    ms,
    between: z.tuple([machine, machine]).readonly(),
    isSilent: z.boolean(),
  }),
  /** Of this share of the machine's requests the request or the reply is lost with the connection, or the request arrives twice. */
  z.strictObject({ type: z.literal("lossy"), at, ms, machine, share: z.number().min(0).max(1) }),
  /** Requests and replies of the machine are delayed by at most `delayMs`. */
  z.strictObject({ type: z.literal("slow"), at, ms, machine, delayMs: ms }),
  /** The machine's date is changed by `byMs`, and alternately changed back and again every 250 ms during `ms`. */
  z.strictObject({ type: z.literal("clock set"), at, ms, machine, byMs: z.number() }),
  /** Commits of the machine fail. */
  z.strictObject({ type: z.literal("disk full"), at, ms, machine }),
  /** The process does not run during `ms`, as after SIGSTOP. What arrives meanwhile waits. */
  z.strictObject({ type: z.literal("stop"), at, ms, machine }),
  /** The server of the shared database is killed and started again after `downMs`. */
  z.strictObject({ type: z.literal("database crash"), at, downMs: ms }),
  /** This share of the manager's commits is rolled back, or its connection is lost before or after the commit, or long before it is made. */
  z.strictObject({ type: z.literal("commit faults"), at, ms, machine, share: z.number().min(0).max(1) }),
  /** The player is stopped and not started again. It stays until its first invitation, so that the league can start. */
  z.strictObject({ type: z.literal("leave"), at, machine }),
  /** The referee tells the manager that it ends for good. It is stopped, and not started again. */
  z.strictObject({ type: z.literal("retire"), at, machine }),
  /** A second process of the player starts with a copy of its files, not before its first invitation. */
  z.strictObject({ type: z.literal("copy"), at, machine }),
]);
export type Disturbance = Readonly<z.infer<typeof Disturbance>>;

/** Disturbances start within this time. */
export const DISTURBANCES_MS = 4_000;
/** Longer than the time limit of a run: the process is not started again, and the connection is not restored. */
export const PERMANENT_MS = 3_600_000;

/** The time at which a disturbance ends, in ms since the start of the run. */
export const endOf = (one: Disturbance): number => {
  if ("ms" in one) return one.ms < PERMANENT_MS ? one.at + one.ms : one.at;
  return "downMs" in one && one.downMs < PERMANENT_MS ? one.at + one.downMs : one.at;
};

/** The tools that change leagues. They need the operator token. */
export const CHANGING_TOOLS = [
  "pause_league",
  "resume_league",
  "extend_league",
  "end_league",
  "annul_match",
  "schedule_match",
  "add_player",
  "remove_player",
  "forget_player",
  "reset_token",
  "start_league",
  "open_league",
] as const;
const TOOLS = [...CHANGING_TOOLS, "get_standings", "get_ratings", "get_schedule", "list_leagues"] as const;

/** One call of an operator. It is repeated until it is answered. */
export const OperatorCall = z.strictObject({
  /** The machine is `operator N`. */
  operator: z.int().min(1).max(9),
  tool: z.enum(TOOLS),
  /** The time of the call in ms: since the start of the run, or after the operator has seen that the league is running. */
  at: z.int().min(0),
  after: z.enum(["begin", "start"]),
  /** Whether the call is an envelope with the tool's message type. */
  isEnvelope: z.boolean(),
  /** Whether the call has a wrong operator token. */
  isForged: z.boolean(),
  /** The names of players. The operator looks up their ids. */
  players: z.array(z.string()).readonly().optional(),
  match: z.string().optional(),
  round: z.int().optional(),
  /** The number of an option of the format to which the league is extended. */
  extended: z.record(z.string(), z.int()).optional(),
  /** Only of `reset_token`: the time after which the player is started again with the new token, in ms. */
  handOverMs: z.int().min(0).optional(),
});
export type OperatorCall = Readonly<z.infer<typeof OperatorCall>>;
export type OperatorTool = OperatorCall["tool"];

/** What else happens to a league with operators, besides disturbances. A third of the plans have none of it. */
const OperatedLeague = {
  calls: z.array(OperatorCall).readonly().optional(),
  /** The time of a round, `round_ms`, in ms. */
  roundMs: z.int().min(1_000).optional(),
  /** `starts_at`, in ms since the start of the run: at the first start of the manager, and at its later ones. */
  startsAtMs: z.array(z.int().min(0)).length(2).readonly().optional(),
  /** Whether only an operator starts the league. */
  isStartedByOperator: z.literal(true).optional(),
  /** The index of a player that first enters another league, which does not start. Until the machine is restarted it runs another player. */
  former: z.int().min(0).optional(),
  /** The index of a player that enters only a league that does not start. An operator adds it. */
  added: z.int().min(0).optional(),
  /** The index of a player whose moves a visitor makes by tools. The visitor also enters another league, and begins a game at a referee. */
  visitor: z.int().min(0).optional(),
  /** Whether the first two players play in another league before. They are then started again. */
  isSecondLeague: z.literal(true).optional(),
};

/** A league of the first two players, which is over when they play in the league `sim`. */
export const FIRST_LEAGUE = "first";

/** The time at which machines are restarted with another player or another config. All processes are started before. */
export const RESTART_AT_MS = 2_000;
const RESTARTED_MS = 200;

/** A restart that belongs to the plan: its owner stops the process, and starts it again. */
interface Restart {
  readonly machine: string;
  readonly at: number;
  readonly downMs: number;
}

/** The restarts of a plan that are no disturbances. */
export function restartsOf({ former, isSecondLeague, startsAtMs }: Plan): readonly Restart[] {
  const players = [...(former === undefined ? [] : [former]), ...(isSecondLeague ? [0, 1] : [])];
  const machines = [...players.map(playerName), ...(startsAtMs ? [MANAGER] : [])];
  return machines.map((machine) => ({ machine, at: RESTART_AT_MS, downMs: RESTARTED_MS }));
}

/** The names of the operators' machines of a plan. */
export const operatorNames = ({ calls = [] }: Pick<Plan, "calls">): readonly string[] =>
  [...new Set(calls.map(({ operator }) => operatorName(operator)))].sort();

/** The time after which nothing of the plan is awaited besides its disturbances, in ms since the start of the run. */
export function endOfOperation(plan: Plan): number {
  const { calls = [], startsAtMs = [] } = plan;
  const restarts = restartsOf(plan);
  const callsMs = calls.map(({ at, after, handOverMs = 0 }) => at + handOverMs + (after === "start" ? STARTED_MS : 0));
  return Math.max(0, ...restarts.map(({ at, downMs }) => at + downMs), ...startsAtMs, ...callsMs);
}

/** The time until an operator that waits for the start of the league sees it, without disturbances. */
const STARTED_MS = 2_500;

/** The number of matches and of rounds that the operators of a plan may add. A call that is repeated can add a match each time. */
function addedBy({ calls = [] }: Pick<Plan, "calls">): { readonly matches: number; readonly factor: number } {
  const scheduled = calls.filter(({ tool }) => tool === "schedule_match").length;
  return { matches: 2 * scheduled, factor: calls.some(({ extended }) => extended) ? 2 : 1 };
}

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

/** Whether a contact of a player, or another text, is a program of a dialect. */
export const isDialect = (contact: string | undefined): contact is DialectProgram =>
  DIALECT_PROGRAMS.some((program) => program === contact);

/** Returns the program of a player that plays in another dialect; null for other players. */
export function dialectOf({ contacts }: Pick<Plan, "contacts">, index: number): DialectProgram | null {
  const contact = contacts?.[index];
  return isDialect(contact) ? contact : null;
}

/** Whether a machine is not that of a player with an inbox or of another dialect. */
export const isCalled = ({ contacts = [] }: Plan, machine: string): boolean =>
  (contacts.find((_, n) => playerName(n) === machine) ?? "endpoint") === "endpoint";

/** Whether a player comes late. */
export const isLate = ({ lateMs }: Pick<Plan, "lateMs">, index: number): boolean => (lateMs?.[index] ?? 0) > 0;

/** Returns the number of players for which the league waits. */
export const punctualPlayers = (plan: Pick<Plan, "players" | "lateMs">): number =>
  plan.players.filter((_, n) => !isLate(plan, n)).length;

/** Returns the time, in ms, before which the process of a machine does not start: that of a player that comes late. */
export const startsAt = ({ lateMs = [] }: Plan, machine: string): number =>
  lateMs[lateMs.findIndex((_, n) => playerName(n) === machine)] ?? 0;

/** The address of hostile players. All other machines have the loopback address. */
const HOSTILE_ADDRESS = "10.0.0.66";
export const addressOf = ({ players }: Plan, machine: string): string =>
  players.some((behaviour, n) => behaviour === "hostile" && machine.startsWith(playerName(n)))
    ? HOSTILE_ADDRESS
    : "127.0.0.1";
