import { z } from "zod";
import { MANAGER, operatorName, playerName } from "./machines/names.ts";
import type { Plan } from "./plan.ts";

/** The tools that change a league, and those that show it. */
const TOOLS = [
  ...["pause_league", "resume_league", "extend_league", "end_league", "annul_match", "schedule_match"],
  ...["add_player", "remove_player", "forget_player", "reset_token", "start_league"],
  ...["get_standings", "get_ratings", "get_schedule", "list_leagues"],
] as const;

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
export const OperatedLeague = {
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
export function addedBy({ calls = [] }: Pick<Plan, "calls">): { readonly matches: number; readonly factor: number } {
  const scheduled = calls.filter(({ tool }) => tool === "schedule_match").length;
  return { matches: 2 * scheduled, factor: calls.some(({ extended }) => extended) ? 2 : 1 };
}
