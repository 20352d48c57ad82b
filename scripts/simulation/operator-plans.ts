import { z } from "zod";
import type { Random } from "#shared/lib/rng.ts";
import { type Disturbance, PERMANENT_MS } from "./disturbance.ts";
import { MANAGER, operatorName, playerName, refereeName } from "./machines/names.ts";
import type { KindContext, Plan, PlanKind } from "./plan.ts";

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
type Tool = OperatorCall["tool"];

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

/** Returns a kind of plans with disturbances that its league can cope with, and with further calls. */
const operated =
  (kind: PlanKind): PlanKind =>
  ({ random, plan }) => {
    const changed = kind({ random, plan });
    const possible = changed.disturbances.filter((one) => isPossible(one, changed));
    const disturbances = [...possible, ...retirement(random, plan)];
    const calls = [...(changed.calls ?? []), ...strayCalls({ random, plan: changed })];
    return {
      ...{ ...changed, disturbances: disturbances.sort((a, b) => a.at - b.at) },
      ...(calls.length > 0 && { calls: calls.sort((a, b) => a.at - b.at) }),
    };
  };

/** Whether the owners of a plan's machines can cope with a disturbance. */
function isPossible({ type }: Disturbance, { startsAtMs, roundMs, calls = [], ...plan }: Plan): boolean {
  // The date of a manager decides when a league starts, and when a round ends.
  if (type === "clock set") return startsAtMs === undefined && roundMs === undefined;
  // A player that leaves waits for its first invitation, which it may not receive, or may receive from another league.
  if (type === "leave") return plan.added === undefined && !plan.isSecondLeague;
  // A copy has the token that an operator replaces, and the name of a player that has changed. No visitor plays for the copy of a player.
  const isChanged = calls.some(({ tool }) => tool === "reset_token" || tool === "forget_player");
  return (
    type !== "copy" || !(isChanged || plan.isSecondLeague || plan.former !== undefined || plan.visitor !== undefined)
  );
}

/** One of several referees leaves for good in half of the plans, unless another one may be lost. */
function retirement(random: Random, { referees, disturbances }: Plan): readonly Disturbance[] {
  const isOneLost = disturbances.some((one) => one.type === "crash" && one.downMs === PERMANENT_MS);
  if (referees < 2 || isOneLost || random.next() < 0.5) return [];
  return [{ type: "retire", at: random.int(1_000, 3_000), machine: refereeName(referees - 1) }];
}

/** A call with the defaults of a random form. */
function call(
  { random }: KindContext,
  tool: Tool,
  after: OperatorCall["after"],
  at: number,
  more: Partial<OperatorCall> = {},
): OperatorCall {
  return { operator: 1, tool, at, after, isEnvelope: random.next() < 0.5, isForged: false, ...more };
}

const name = (index: number): string => `P${index + 1}`;
const anyPlayer = ({ random, plan }: KindContext): string => name(random.int(0, plan.players.length - 1));
const anyPair = ({ random, plan }: KindContext): readonly string[] =>
  random.shuffle(plan.players.map((_, index) => name(index))).slice(0, 2);
const anyMatch = ({ random, plan }: KindContext): { readonly match: string; readonly round: number } => {
  const round = random.int(1, plan.players.length);
  return { match: `R${round}M${random.int(1, Math.max(1, Math.floor(plan.players.length / 2)))}`, round };
};

/** The calls between a pause and the end of the pause. */
function paused(context: KindContext, calls: readonly OperatorCall[]): readonly OperatorCall[] {
  const { random } = context;
  const from = random.int(0, 300);
  const until = from + random.int(300, 3_000);
  return [
    call(context, "pause_league", "start", from),
    ...calls.map((one) => ({ ...one, at: random.int(from, until) })),
    call(context, "resume_league", "start", until),
  ];
}

const annul = (context: KindContext, match: string): OperatorCall =>
  call(context, "annul_match", "start", context.random.int(0, 1_000), { match });

const pausing: PlanKind = (context) => ({ ...context.plan, calls: paused(context, []) });

/** Annuls a match of a round robin, and adds one of the same players, so that it is played again. */
const annulling: PlanKind = (context) => {
  const { plan, random } = context;
  const round = random.int(1, plan.players.length - 1);
  const match = `R${round}M1`;
  const again = call(context, "schedule_match", "start", 0, { players: anyPair(context), round: plan.players.length });
  const isPaused = random.next() < 0.7;
  const calls = [annul(context, match), ...(random.next() < 0.5 ? [annul(context, match)] : []), again];
  if (random.next() < 0.3) {
    // The pairings of the second round depend on the match.
    const late = [800, 2_000, 3_500].map((at) => call(context, "annul_match", "start", at, { match: "R1M1" }));
    return { ...plan, players: plan.players.with(0, "slow"), format: { id: "swiss", options: {} }, calls: late };
  }
  if (random.next() < 0.5) return { ...plan, format: undefined, calls: isPaused ? paused(context, calls) : calls };
  // A removed player forfeits its matches of later rounds, except an annulled one.
  const last = `R${plan.players.length - 1 + (plan.players.length % 2)}M1`;
  const removed = call(context, "remove_player", "start", 0, { players: [anyPlayer(context)] });
  return { ...plan, format: undefined, calls: paused(context, [annul(context, last), removed]) };
};

const scheduling: PlanKind = (context) => {
  const { plan, random } = context;
  const calls = Array.from({ length: random.int(1, 3) }, () => {
    const round = random.int(1, plan.players.length);
    return call(context, "schedule_match", "start", random.int(0, 800), { players: anyPair(context), round });
  });
  return { ...plan, format: undefined, calls: paused(context, calls) };
};

/** The options by which leagues are extended, by format. */
const EXTENSIONS: readonly (readonly [NonNullable<Plan["format"]>, Readonly<Record<string, number>>])[] = [
  [{ id: "round-robin", options: {} }, { cycles: 2 }],
  [{ id: "swiss", options: { rounds: 2 } }, { rounds: 3 }],
  [{ id: "match", options: { games: 2 } }, { games: 4 }],
  [{ id: "sprt", options: { elo0: 0, elo1: 400, max_games: 6 } }, { max_games: 10 }],
];

const extending: PlanKind = (context) => {
  const { plan, random } = context;
  const [format, extended] = random.pick(EXTENSIONS);
  const one = call(context, "extend_league", "start", 0, { extended });
  return {
    ...plan,
    format: format.id === "round-robin" ? undefined : format,
    calls: paused(context, random.next() < 0.3 ? [one, one] : [one]),
  };
};

const ending: PlanKind = (context) => {
  const { plan, random } = context;
  const one = call(context, "end_league", "start", random.int(0, 600));
  const isRepeated = random.next() < 0.5;
  return {
    ...plan,
    calls: random.next() < 0.5 ? paused(context, [one]) : [one, ...(isRepeated ? [{ ...one, operator: 2 }] : [])],
  };
};

/** Removes a player, and erases its data as soon as its match is over. */
const removing: PlanKind = (context) => {
  const { plan, random } = context;
  const players = [anyPlayer(context)];
  const at = random.int(0, 500);
  const forgotten = Array.from({ length: random.int(0, 2) }, () =>
    call(context, "forget_player", "start", at + random.int(0, 1_500), { players }),
  );
  return { ...plan, calls: [call(context, "remove_player", "start", at, { players }), ...forgotten] };
};

const resetting: PlanKind = (context) => {
  const { plan, random } = context;
  const after = random.next() < 0.7 ? "start" : "begin";
  const at = after === "start" ? random.int(0, 800) : random.int(800, 1_500);
  const handOverMs = random.int(0, 1_000);
  const isTwice = random.next() < 0.2;
  const one = call(context, "reset_token", after, at, { players: [anyPlayer(context)], handOverMs });
  return { ...plan, calls: isTwice ? [one, { ...one, at: at + random.int(0, 500) }] : [one] };
};

/** Adds a player to a Swiss system: before its start, or while it is paused. */
const adding: PlanKind = (context) => {
  const { plan, random } = context;
  const added = plan.players.length - 1;
  const players = [name(added)];
  const isLate = added >= 2 && random.next() < 0.5;
  const calls = isLate
    ? paused(context, [call(context, "add_player", "start", 0, { players })])
    : [call(context, "add_player", "begin", random.int(1_000, 2_000), { players })];
  return { ...plan, added, format: { id: "swiss", options: { rounds: 3 } }, calls };
};

const starting: PlanKind = (context) => {
  const begun = call(context, "start_league", "begin", context.random.int(500, 1_500));
  return { ...context.plan, isStartedByOperator: true, calls: context.random.next() < 0.5 ? [begun, begun] : [begun] };
};

/** The league starts at a time that the config of the only manager changes before. Several managers have the same config. */
const reconfiguring: PlanKind = (context) => {
  const { plan, random } = context;
  if (plan.managers > 1) return starting(context);
  const first = RESTART_AT_MS + random.int(500, 2_000);
  return { ...plan, startsAtMs: [first, Math.max(RESTART_AT_MS + 500, first + random.int(1, 1_000))] };
};

/** Rounds with a time limit and players that take longer. */
const expiring: PlanKind = ({ random, plan }) => {
  const players = plan.players.with(random.int(0, plan.players.length - 1), random.pick(["slow", "silent"]));
  const isInOrder = plan.format?.id !== "match" && plan.format?.id !== "sprt";
  return { ...plan, players, roundMs: random.int(1_000, 2_500), format: isInOrder ? plan.format : undefined };
};

/** Matches that take longer than they may, so that they are aborted. */
const aborting: PlanKind = ({ random, plan }) => {
  const players = plan.players.with(random.int(0, plan.players.length - 1), "slow");
  const format = plan.format?.id === "swiss" ? plan.format : undefined;
  return { ...plan, players, format, matchMs: random.int(1_000, 2_500) };
};

/** Another player takes the address of a former one, which an operator may have erased before. */
const replacing: PlanKind = (context) => {
  const { plan, random } = context;
  const former = random.int(0, plan.players.length - 1);
  const players = [`Q${former + 1}`];
  const calls =
    random.next() < 0.3
      ? [call(context, "forget_player", "begin", random.int(1_000, RESTART_AT_MS - 200), { players })]
      : [];
  return { ...plan, former, calls };
};

const renewing: PlanKind = ({ plan }) => ({ ...plan, isSecondLeague: true });

/** A referee cannot reach the manager for longer than it may be silent, except in a match that is played by hand. */
function cutReferee({ plan, random }: KindContext): Pick<Plan, "referees" | "players" | "disturbances"> {
  const cut = refereeName(0);
  const at = random.int(2_000, 3_000);
  return {
    ...{ referees: 2, players: plan.players.map(() => "slow") },
    disturbances: [{ type: "partition", at, ms: random.int(14_000, 17_000), between: [cut, MANAGER], isSilent: false }],
  };
}

const reading: PlanKind = (context) => {
  const { plan, random } = context;
  const calls = (["get_standings", "get_ratings", "get_schedule", "list_leagues"] as const).map((tool) =>
    call(context, tool, random.next() < 0.5 ? "begin" : "start", random.int(200, 1_500), { operator: 2 }),
  );
  // One of several managers would pass on the calls of the visitor over HTTP, which is not simulated.
  if (plan.managers > 1) return { ...plan, calls };
  const visitor = random.int(0, plan.players.length - 1);
  return { ...plan, calls, visitor, ...(random.next() < 0.5 && cutReferee(context)) };
};

/** The kinds of plans with operators, or with a config under which events occur that are otherwise rare. Kinds whose events not every plan of the kind contains are listed several times. */
export const OPERATED_KINDS: readonly PlanKind[] = [
  ...[pausing, annulling, scheduling, extending, ending, removing, resetting, adding, starting, expiring, aborting],
  ...[reconfiguring, reconfiguring, replacing, replacing, renewing, renewing, reading, reading, resetting],
].map(operated);

/** Further calls of plans with operators: repeated, wrong, too early or too late. */
function strayCalls(context: KindContext): readonly OperatorCall[] {
  const { random, plan } = context;
  if (plan.added !== undefined || plan.isSecondLeague) return [];
  return Array.from({ length: random.int(0, 3) }, () => {
    const tool = random.pick(STRAY_TOOLS);
    const isForged = random.next() < 0.2;
    const at = random.int(0, 1_500);
    const args = {
      ...((tool === "annul_match" || tool === "schedule_match") && anyMatch(context)),
      ...(tool === "schedule_match" && { players: anyPair(context) }),
      ...(tool === "add_player" && { players: [anyPlayer(context)] }),
      ...(tool === "extend_league" && { extended: { cycles: 2 } }),
      ...(isForged && FORGED_TOOLS.includes(tool) && { players: [anyPlayer(context)] }),
    };
    const after = random.next() < 0.85 ? "start" : "begin";
    return call(context, tool, after, at, { operator: random.int(1, 2), isForged, ...args });
  }).filter(({ tool, isForged }) => isForged || !FORGED_TOOLS.includes(tool));
}

/** The calls that a plan of another kind has only with a wrong token, because a player or a league would be lost. */
const FORGED_TOOLS: readonly Tool[] = ["remove_player", "forget_player", "reset_token", "end_league"];
const STRAY_TOOLS: readonly Tool[] = [
  ...(["resume_league", "annul_match", "schedule_match", "add_player", "start_league", "extend_league"] as const),
  ...FORGED_TOOLS,
];
