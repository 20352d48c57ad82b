import type { Random } from "#shared/lib/rng.ts";
import { MANAGER, refereeName } from "./machines/names.ts";
import {
  type Disturbance,
  type KindContext,
  type OperatorCall,
  type OperatorTool,
  PERMANENT_MS,
  type Plan,
  type PlanKind,
  RESTART_AT_MS,
} from "./plan.ts";

/** Returns a kind of plans with disturbances that its league can cope with, and with further calls. */
const operated =
  (kind: PlanKind): PlanKind =>
  ({ random, plan }) => {
    const changed = kind({ random, plan });
    const possible = changed.disturbances.filter((one) => isPossible(one, changed));
    const disturbances = [...possible, ...retirement(random, plan)];
    const calls = [...(changed.calls ?? []), ...strayCalls({ random, plan: changed })];
    return {
      ...changed,
      disturbances: disturbances.sort((a, b) => a.at - b.at),
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
  tool: OperatorTool,
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

/** Removes a player, and erases its data as soon as its match is over. A short league is over a second after its start. */
const removing: PlanKind = (context) => {
  const { plan, random } = context;
  const players = [anyPlayer(context)];
  const at = random.int(0, 500);
  const forgotten = [100, 300, 1_500].map((withinMs) =>
    call(context, "forget_player", "start", at + random.int(0, withinMs), { players }),
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

/** Two players play in another league before. When it is over, an operator opens a league like it, which does not start. */
const renewing: PlanKind = (context) => {
  const calls = [0, 3_000].map((at) => call(context, "open_league", "start", at));
  return { ...context.plan, isSecondLeague: true, calls };
};

/** A referee cannot reach the manager for longer than it may be silent, except in a match that is played by hand. */
function cutReferee({ plan, random }: KindContext): Pick<Plan, "referees" | "players" | "disturbances"> {
  const cut = refereeName(0);
  const at = random.int(2_000, 3_000);
  return {
    referees: 2,
    players: plan.players.map(() => "slow"),
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
  pausing,
  annulling,
  scheduling,
  extending,
  ending,
  removing,
  resetting,
  adding,
  starting,
  expiring,
  aborting,
  reconfiguring,
  reconfiguring,
  replacing,
  replacing,
  renewing,
  renewing,
  reading,
  reading,
  resetting,
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
const FORGED_TOOLS: readonly OperatorTool[] = ["remove_player", "forget_player", "reset_token", "end_league"];
const STRAY_TOOLS: readonly OperatorTool[] = [
  ...(["resume_league", "annul_match", "schedule_match", "add_player", "start_league", "extend_league"] as const),
  ...FORGED_TOOLS,
];
