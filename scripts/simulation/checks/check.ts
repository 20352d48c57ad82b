import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parsedJson } from "#shared/lib/text.ts";
import type { Database } from "#shared/store/sqlite.ts";
import type { AgentEvent } from "../../../league-manager/agents/registered-agent.ts";
import { LeagueEvent } from "../../../league-manager/league/events.ts";
import { exportOf } from "../../archive/export-store.ts";
import { writeExport } from "../../archive/format.ts";
import { verifyExport } from "../../archive/verify/verify.ts";
import { FORBIDDEN, FORGED } from "../hostile.ts";
import { DATABASE, isManager, MANAGER, managerNames, playerName } from "../machines/names.ts";
import type { ObservedRequest } from "../machines/network.ts";
import type { BotSeat } from "../machines/observer.ts";
import { type Disturbance, dialectOf, isCalled, isSilentPartition, MOVE_MS, type Plan } from "../plan.ts";
import { faultsOfTimes } from "./agreement.ts";
import { createAnnouncements, createCourse, faultsOfCapacity, faultsOfFinalStandings } from "./course.ts";
import { createClocks, createDeadlines } from "./deadlines.ts";
import { createDialects } from "./dialects.ts";
import { CommittedLog, type LogEntry } from "./log.ts";
import { type CheckedEnvelope, envelopesIn } from "./messages.ts";
import { createOperators } from "./operators.ts";
import { createEpochs, createRelease, type Timed } from "./release.ts";
import { type Fault, faultsOf } from "./rules.ts";
import { createViews } from "./secrecy.ts";
import { type AgentStreams, faultsOfDismissals, faultsOfTimeouts } from "./timeouts.ts";
import { createTurns } from "./turns.ts";

type Completed = Extract<LeagueEvent, { type: "match_completed" }>;

/** A result that the manager has acknowledged. */
interface Acknowledged {
  readonly matchId: string;
  readonly epoch: number;
  readonly logHead: string;
}

/** Observes the messages and commits of a run and checks the invariants. */
export interface Checker {
  onRequest(passed: ObservedRequest, sentAt: number): void;
  onAnswer(passed: ObservedRequest, reply: string): void;
  onCommitted(machine: string, db: Database): void;
  onProcess(machine: string, isRunning: boolean): void;
  onView(machine: string, seat: BotSeat, view: string): void;
  /** Returns true when the league is completed in the database of the run. */
  isOver(): boolean;
  /** Returns the faults of the final standings as the manager shows them. null: it does not answer. */
  faultsOfShown(standings: unknown): readonly Fault[];
  /** Returns the faults of a run that has ended. `db` is the database of the run. */
  faults(db: Database | null): Promise<readonly Fault[]>;
}

/** The checks of one run, each of which remembers what it needs. */
function createChecks(plan: Plan, now: () => number) {
  const timeline = createTimeline(now);
  const dialects = createDialects(plan, now);
  return {
    plan,
    timeline,
    results: createResults(plan),
    course: createCourse(plan),
    announcements: createAnnouncements(plan),
    dialects,
    turns: createTurns(dialects.isForeign),
    clocks: createClocks(plan),
    views: createViews(),
    epochs: createEpochs(plan, now),
    deadlines: createDeadlines(plan, now),
    release: createRelease(plan, now),
    operators: createOperators(plan, timeline.entries),
    /** The display names of the agents that have registered, by id. Those of erased players are no longer in the database. */
    names: new Map<string, string>(),
    /** The databases of the managers and the referees. */
    stores: new Map<string, Database>(),
  };
}
type Checks = ReturnType<typeof createChecks>;

/** `now` returns the virtual time, in ms. */
export function createChecker(plan: Plan, now: () => number = () => 0): Checker {
  const faults: Fault[] = [];
  const checks = createChecks(plan, now);
  const { timeline, stores, operators, views, epochs, deadlines, dialects, release, announcements } = checks;
  return {
    onRequest(passed, sentAt) {
      const { from, to, body, isCopy } = passed;
      const all = envelopesIn(body);
      const requests = all.filter((request) => !isOfOtherLeague(request));
      if (isCopy) {
        // The agents have sent it once. The answers to a copy must be right, too, but no agent waits for them.
        for (const request of requests) faults.push(...epochs.onRequest(from, to, request, sentAt));
        dialects.onCopy(passed);
        return;
      }
      operators.onRequest(passed);
      faults.push(...dialects.onRequest(passed, sentAt));
      if (isPlayer(from)) return;
      if (isPlayer(to)) for (const request of all) announcements.onRequest(to, request);
      for (const request of requests) faults.push(...faultsOfRequest(checks, passed, request, sentAt));
    },
    onAnswer(passed, reply) {
      faults.push(...operators.onAnswer(passed, reply));
      if (!passed.isCopy) dialects.onAnswer(passed, reply);
      if (isPlayer(passed.from)) faults.push(...faultsOfForgeries(plan, passed, reply));
      if (!mayFailToCommit(plan) && reply.includes('"code":-32603'))
        faults.push(`errors: ${passed.to} answered an internal error: ${reply}`);
      const requests = envelopesIn(passed.body);
      for (const answer of envelopesIn(reply)) {
        const request = requests.find(({ id }) => id === answer.id);
        if (request && !isOfOtherLeague(request)) faults.push(...faultsOfAnswer(checks, passed, request, answer));
      }
    },
    onCommitted(machine, db) {
      if (isPlayer(machine)) return;
      for (const writer of writersOf(plan, machine)) stores.set(writer, db);
      if (stores.get(MANAGER) === db) timeline.onCommitted(db);
    },
    onProcess(machine, isRunning) {
      epochs.onProcess(machine);
      dialects.onProcess(machine);
      deadlines.onProcess(machine);
      release.onProcess(machine, isRunning);
    },
    onView(machine, seat, view) {
      if (seat.leagueId === "sim") faults.push(...views.onView(machine, seat, view));
    },
    isOver: timeline.isOver,
    faultsOfShown: (standings) => faultsOfFinalStandings(plan, standings, timeline.events()),
    faults: async (db) =>
      db ? [...faults, ...(await faultsOfRun(checks, db, now))] : [...faults, "end: the manager has no store"],
  };
}

/** Returns the faults of a request of a manager or a referee. */
function faultsOfRequest(
  checks: Checks,
  { from, to }: ObservedRequest,
  request: CheckedEnvelope,
  sentAt: number,
): readonly Fault[] {
  const { epochs, deadlines, turns, clocks, course, views, dialects, operators } = checks;
  const isReport = request.type === "MATCH_RESULT";
  course.onRequest(request);
  return [
    ...faultsOfSending(checks, from, request, null),
    ...epochs.onRequest(from, to, request, sentAt),
    ...deadlines.onRequest(from, to, request, sentAt),
    ...(isReport ? [...turns.onReport(request), ...clocks.onReport(request), ...dialects.onReport(request)] : []),
    ...(isPlayer(to) ? [...turns.onRequest(request), ...clocks.onRequest(request)] : []),
    ...(isPlayer(to) ? [...views.onRequest(to, request), ...operators.onInvitation(request)] : []),
  ];
}

function faultsOfAnswer(
  checks: Checks,
  { from, to, isCopy }: ObservedRequest,
  request: CheckedEnvelope,
  answer: CheckedEnvelope,
): readonly Fault[] {
  const { results, turns, epochs, deadlines, names, release } = checks;
  if (request.type.endsWith("_REGISTER_REQUEST")) noteName(names, request, answer);
  const sending = faultsOfSending(checks, to, answer, request);
  if (isPlayer(from)) return sending;
  release.onAnswer(to, request, answer);
  const faults = [...sending, ...results.onAnswer(request, answer), ...epochs.onAnswer(from, to, request, answer)];
  if (isCopy) return faults;
  deadlines.onAnswer(from, request, answer);
  return [...faults, ...turns.onAnswer(to, request, answer)];
}

function faultsOfSending(
  { stores }: Checks,
  from: string,
  sent: CheckedEnvelope,
  request: CheckedEnvelope | null,
): readonly Fault[] {
  const db = stores.get(from);
  return db ? sentBeforeCommit(from, db, sent, request) : [];
}

/** Returns the faults in the log of a run that has ended. */
async function faultsOfRun(checks: Checks, db: Database, now: () => number): Promise<readonly Fault[]> {
  const { plan, results, course, release, operators, timeline, announcements } = checks;
  const log = new CommittedLog(now).read(db);
  const events = log.filter(isOfLeague).map(({ event }) => LeagueEvent.parse(event));
  const names = new Map([...checks.names, ...displayNamesIn(db)]);
  const streams = agentStreamsIn(log);
  return [
    ...results.faults(events),
    ...faultsOfCapacity(plan, events),
    ...course.faults(events),
    ...announcements.faults(log, names),
    ...(plan.managers > 1 ? faultsOfTimes(timeline.entries()) : []),
    ...faultsOfTimeouts(events, streams),
    ...faultsOfDismissals(log),
    ...release.faults(timeline.entries().filter(isOfLeague), names),
    ...operators.faults(log),
    ...faultsOf("forfeits", faultsOfCharges(plan, events, names, streams)),
    ...faultsOf("export", await faultsOfExport(db)),
  ];
}

/** Whether a manager or referee may be unable to commit, so that it answers an internal error. */
const mayFailToCommit = ({ managers, disturbances }: Plan): boolean =>
  disturbances.some(({ type }) => type === "disk full") || (managers > 1 && disturbances.length > 0);

/** The machines whose processes write to the database of a machine. */
const writersOf = ({ managers }: Plan, machine: string): readonly string[] =>
  machine === DATABASE ? managerNames(managers) : [machine];

/** The checks concern the league `sim`. */
const isOfOtherLeague = ({ payload }: CheckedEnvelope): boolean =>
  payload.league_id !== undefined && payload.league_id !== "sim";

function noteName(names: Map<string, string>, { payload }: CheckedEnvelope, answer: CheckedEnvelope): void {
  const id = answer.payload.player_id ?? answer.payload.referee_id;
  if (typeof id === "string") names.set(id, String(payload.display_name));
}

const isPlayer = (machine: string): boolean => machine.startsWith("player");

/** Records the results that the manager acknowledges, and compares them with those that it has recorded. */
function createResults(plan: Plan) {
  const acknowledged: Acknowledged[] = [];
  return {
    onAnswer({ type, payload }: CheckedEnvelope, answer: CheckedEnvelope): readonly Fault[] {
      // A match that its referee aborts is released and has no result.
      if (type !== "MATCH_RESULT" || payload.termination === "aborted") return [];
      const { match_id, epoch, log_head } = payload;
      const result = { matchId: String(match_id), epoch: Number(epoch), logHead: String(log_head) };
      if (answer.type === "MATCH_RESULT_RESPONSE") acknowledged.push(result);
      const isRejected = answer.payload.error_code === "G001";
      return isRejected ? [`results: the manager rejected a result of ${match_id}`] : [];
    },
    faults: (events: readonly LeagueEvent[]) => faultsOf("results", faultsOfResults(plan, events, acknowledged)),
  };
}

/**
 * Checks that every acknowledged result is recorded as reported, that every match has one result, and that no match was aborted unless a match has less
 * time than a move.
 */
function faultsOfResults(
  { matchMs = MOVE_MS }: Plan,
  events: readonly LeagueEvent[],
  acknowledged: readonly Acknowledged[],
): readonly string[] {
  const completed = new Map<string, Completed>();
  const faults: string[] = [];
  for (const event of events) {
    if (event.type === "match_aborted" && matchMs >= MOVE_MS)
      faults.push(`${event.match_id} was aborted: ${event.reason}`);
    if (event.type !== "match_completed") continue;
    if (completed.has(event.match_id)) faults.push(`${event.match_id} has two results`);
    completed.set(event.match_id, event);
  }
  for (const { matchId, epoch, logHead } of acknowledged) {
    const recorded = completed.get(matchId);
    if (!recorded || recorded.log_head !== logHead || recorded.epoch !== epoch) {
      faults.push(`the acknowledged result of ${matchId}, epoch ${epoch}, is not recorded`);
    }
  }
  return faults;
}

/** The log of a database with the virtual times of its commits, which tells when the league is over. */
function createTimeline(now: () => number) {
  const log = new CommittedLog(now);
  let isOver = false;
  return {
    entries: (): readonly LogEntry[] => log.entries,
    events: (): readonly LeagueEvent[] => log.entries.filter(isOfLeague).map(({ event }) => event),
    isOver: (): boolean => isOver,
    onCommitted(db: Database): void {
      const added = log.read(db);
      isOver ||= added.some((entry) => isOfLeague(entry) && entry.event.type === "completed");
    },
  };
}

const isOfLeague = (entry: LogEntry): entry is Timed & LogEntry => entry.stream === LEAGUE_STREAM;

/** The events of the streams of the agents, by their ids. */
function agentStreamsIn(log: readonly LogEntry[]): AgentStreams {
  const streams = new Map<string, AgentEvent[]>();
  for (const { stream, event } of log) {
    if (!stream.startsWith(AGENT_PREFIX)) continue;
    const id = stream.slice(AGENT_PREFIX.length);
    const ofAgent = streams.get(id) ?? [];
    streams.set(id, ofAgent);
    ofAgent.push(event as AgentEvent);
  }
  return streams;
}

const LEAGUE_STREAM = "league:sim";
const AGENT_PREFIX = "agent:";

const displayNamesIn = (db: Database): ReadonlyMap<string, string> =>
  new Map(
    db
      .prepare("SELECT agent_id, display_name FROM profiles")
      .all()
      .map((row) => [String(row.agent_id), String(row.display_name)]),
  );

/** Checks that no well-behaved player is charged for disturbances of others. `names` are the display names of the players by id. */
function faultsOfCharges(
  plan: Plan,
  events: readonly LeagueEvent[],
  names: ReadonlyMap<string, string>,
  streams: AgentStreams,
): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== "match_completed") return [];
    return event.faults.flatMap(({ player_id, cause }) => {
      const index = Number(names.get(player_id)?.slice(1)) - 1;
      const isChanged = streams.get(player_id)?.some(({ type }) => BY_OPERATOR.has(type));
      return isChanged || mayBeCharged(plan, index) ? [] : [`${event.match_id}: ${player_id} was charged for ${cause}`];
    });
  });
}

/** The events of a player that an operator has removed, or whose token it has reset. Such a player forfeits matches. */
const BY_OPERATOR: ReadonlySet<string> = new Set(["removed", "token_reset"]);

/**
 * Returns true if a player may be charged: it misbehaves, has left or has a copy, or the disturbances of the player, the referees and the manager
 * last in total as long as the time limit of a move. A request on a silent connection times out and is charged to the player (docs/simulation.md).
 */
function mayBeCharged(plan: Plan, index: number): boolean {
  const { players, disturbances } = plan;
  const behaviour = players[index] ?? "silent";
  const self = playerName(index);
  if (behaviour !== "well" && behaviour !== "slow") return true;
  if (dialectOf(plan, index) === "later answers" && disturbances.some((one) => isCrashOf(one, self))) return true;
  if (disturbances.some((one) => (one.type === "leave" || one.type === "copy") && one.machine === self)) return true;
  const others = playerNames(players.length).filter((name) => name !== self);
  const durations = disturbances.map((one) => {
    if ("machine" in one && others.includes(one.machine)) return 0;
    if (one.type === "partition") {
      if (one.between.some((name) => others.includes(name))) return 0;
      return isSilentPartition(one) ? MOVE_MS : one.ms;
    }
    if ("downMs" in one) return Math.min(one.downMs, MAX_DOWN_MS) + RECOVERY_MS;
    return "ms" in one && one.type !== "clock set" ? one.ms : 0;
  });
  return durations.reduce((sum, ms) => sum + ms, 0) >= MOVE_MS;
}

/** A program that sends its answer later and is killed before that does not know any more that the referee waits for it. */
const isCrashOf = (one: Disturbance, machine: string): boolean =>
  (one.type === "crash" || one.type === "crash at message") && one.machine === machine;

/** The matches of a referee that is down for longer are assigned to other referees. */
const MAX_DOWN_MS = 5_000;
/** The time until a restarted process is reachable again. */
const RECOVERY_MS = 1_500;

const playerNames = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => playerName(n));

/** Exports the run and verifies the export with the production code, which replays every log and recomputes the standings. */
async function faultsOfExport(db: Database): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "simulation-"));
  try {
    const file = join(folder, "league-manager.sqlite");
    db.prepare("VACUUM INTO ?").run(file);
    const { files } = await exportOf(file);
    const out = join(folder, "export");
    writeExport(out, files);
    return verifyExport(out).faults.map((fault) => `${fault.file}: ${fault.message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const RESULT_OF_MANAGER = `SELECT 1 FROM log WHERE type IN ('match_completed', 'match_released', 'match_aborted')
  AND body ->> '$.match_id' = ? AND body ->> '$.epoch' = ?`;
const ASSIGNMENT = `SELECT 1 FROM log WHERE type = 'match_assigned' AND body ->> '$.match_id' = ? AND body ->> '$.epoch' = ?`;
const SESSION = "SELECT 1 FROM matches WHERE match_id = ? AND epoch = ?";
const ACTIONS = `SELECT 1 FROM matches JOIN sessions USING (session_id) JOIN log USING (stream)
  WHERE match_id = ? AND epoch = ? GROUP BY session_id HAVING sum(log.type = 'acted') >= ?`;
const LOG_HEAD = "SELECT 1 FROM log WHERE hash = ?";

/**
 * Returns a fault if a manager or referee has sent a message whose content was not yet committed in its database. `sent` is the message; if it is an
 * answer, `request` is its request.
 */
function sentBeforeCommit(
  from: string,
  db: Database,
  sent: CheckedEnvelope,
  request: CheckedEnvelope | null,
): readonly Fault[] {
  const { type, payload } = sent;
  const { match_id, epoch } = { ...request?.payload, ...payload } as { match_id?: string; epoch?: number };
  const isStored = (sql: string, ...values: readonly unknown[]): boolean =>
    db.prepare(sql).get(...(values as (string | number)[])) !== undefined;
  const isOfManager = isManager(from);
  const isCommitted = ((): boolean => {
    if (isOfManager && type === "MATCH_RESULT_RESPONSE") return isStored(RESULT_OF_MANAGER, match_id, epoch);
    if (isOfManager && type === "START_GAME") return isStored(ASSIGNMENT, match_id, epoch);
    if (isOfManager) return true;
    if (type === "START_GAME_RESPONSE" || type === "GAME_INVITE") return isStored(SESSION, match_id, epoch);
    if (type === "MOVE_REQUEST") return isStored(ACTIONS, match_id, epoch, payload.tick);
    const isResult = type === "GAME_RESULT" || type === "MATCH_RESULT";
    return !isResult || payload.log_head === "" || isStored(LOG_HEAD, payload.log_head);
  })();
  return isCommitted ? [] : [`commit order: ${from} sent ${type} of ${match_id}, epoch ${epoch}, before its commit`];
}

const FORGERIES: ReadonlySet<string> = new Set([...FORGED, ...FORBIDDEN]);

/** Returns the faults of an answer that accepts what a player may not send. */
function faultsOfForgeries(plan: Plan, observed: ObservedRequest, reply: string): readonly Fault[] {
  const { from, to, body, isPoll } = observed;
  const fault = (what: string): Fault => `forgeries: ${to} accepted ${what} of ${from}: ${reply.slice(0, 300)}`;
  if (isPoll) return isCalled(plan, from) && reply.includes('"requests"') ? [fault("a poll of another inbox")] : [];
  const requests = envelopesIn(body);
  const faults = envelopesIn(reply).flatMap((answer): readonly Fault[] => {
    const request = requests.find(({ id }) => id === answer.id);
    if (!request) return [];
    if (FORGERIES.has(request.type)) return isRejected(answer) ? [] : [fault(request.type)];
    return isTakeover(plan, from, request) && answer.payload.status === "ACCEPTED" ? [fault("a registration")] : [];
  });
  return isHostile(plan, from)
    ? [...faults, ...(isAcceptedInDialect(body, reply) ? [fault("a message")] : [])]
    : faults;
}

const isHostile = ({ players }: Plan, machine: string): boolean =>
  players.some((behaviour, n) => behaviour === "hostile" && playerName(n) === machine);

const isRejected = ({ type, payload }: CheckedEnvelope): boolean =>
  type.endsWith("_ERROR") || (type === "GAME_INVITE_RESPONSE" && payload.accept === false);

/** Whether a registration does not name a player of the machine that has sent it. */
const isTakeover = ({ players, former }: Plan, machine: string, { type, payload }: CheckedEnvelope): boolean =>
  /^(PLAYER|REFEREE)_REGISTER_REQUEST$/.test(type) &&
  players.some(
    (_, n) =>
      machine === playerName(n) &&
      payload.display_name !== `P${n + 1}` &&
      !(n === former && payload.display_name === `Q${n + 1}`),
  );

/** Whether an agent has accepted a message in another dialect. A hostile player is a native one. */
function isAcceptedInDialect(body: string, reply: string): boolean {
  if (!body.includes('"message_type"')) return false;
  const { result } = (parsedJson(reply) ?? {}) as { readonly result?: Readonly<Record<string, unknown>> };
  return result?.status === "ACCEPTED" || result?.status === "REGISTERED";
}
