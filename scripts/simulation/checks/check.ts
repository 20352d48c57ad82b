import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "#shared/store/sqlite.ts";
import { type LeagueEvent, parseLeagueEvent } from "../../../league-manager/league/events.ts";
import { exportOf } from "../../archive/export/export-store.ts";
import { writeExport } from "../../archive/files.ts";
import { verifyExport } from "../../archive/verify/verify.ts";
import { FORGED } from "../liar.ts";
import type { ObservedRequest } from "../machines/connection.ts";
import { DATABASE, MANAGER, managerNames, playerName } from "../machines/names.ts";
import type { BotSeat } from "../machines/observer.ts";
import { isSilentPartition, MOVE_MS, type Plan } from "../plan.ts";
import { faultsOfCapacity } from "./capacity.ts";
import { createClocks } from "./clocks.ts";
import { createCourse } from "./course.ts";
import { createDeadlines } from "./deadlines.ts";
import { type CheckedEnvelope, envelopesIn } from "./envelopes.ts";
import { createEpochs } from "./epochs.ts";
import { createRelease, type Timed } from "./release.ts";
import { type Fault, faultsOf } from "./rules.ts";
import { sentBeforeCommit } from "./sent-before-commit.ts";
import { type AgentStreams, faultsOfTimeouts } from "./timeouts.ts";
import { createTurns } from "./turns.ts";
import { createViews } from "./views.ts";

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
  /** Returns the faults of a run that has ended. `db` is the database of the run. */
  faults(db: Database | null): Promise<readonly Fault[]>;
}

/** `now` returns the virtual time, in ms. */
export function createChecker(plan: Plan, now: () => number = () => 0): Checker {
  const faults: Fault[] = [];
  const results = createResults();
  const [course, turns, clocks, views] = [createCourse(plan), createTurns(), createClocks(plan), createViews()];
  const [epochs, deadlines] = [createEpochs(plan, now), createDeadlines(plan, now)];
  const [release, timeline] = [createRelease(plan, now), createTimeline(now)];
  /** The databases of the managers and the referees. */
  const stores = new Map<string, Database>();

  const onSent = (from: string, sent: CheckedEnvelope, request: CheckedEnvelope | null): void => {
    const db = stores.get(from);
    if (db) faults.push(...sentBeforeCommit(from, db, sent, request));
  };
  return {
    onRequest({ from, to, body }, sentAt) {
      if (isPlayer(from)) return;
      for (const request of envelopesIn(body)) {
        onSent(from, request, null);
        faults.push(...epochs.onRequest(from, to, request, sentAt), ...deadlines.onRequest(from, request, sentAt));
        if (request.type === "MATCH_RESULT") faults.push(...turns.onReport(request), ...clocks.onReport(request));
        course.onRequest(request);
        if (isPlayer(to))
          faults.push(...turns.onRequest(request), ...clocks.onRequest(request), ...views.onRequest(to, request));
      }
    },
    onAnswer({ from, to, body }, reply) {
      if (!mayFailToCommit(plan) && reply.includes('"code":-32603'))
        faults.push(`errors: ${to} answered an internal error: ${reply}`);
      const requests = envelopesIn(body);
      for (const answer of envelopesIn(reply)) {
        const request = requests.find(({ id }) => id === answer.id);
        if (!request) continue;
        onSent(to, answer, request);
        if (isPlayer(from)) faults.push(...faultsOfForgery(from, to, request, answer));
        else {
          faults.push(...results.onAnswer(request, answer), ...turns.onAnswer(to, request, answer));
          faults.push(...epochs.onAnswer(from, to, request, answer));
          deadlines.onAnswer(from, request, answer);
        }
      }
    },
    onCommitted(machine, db) {
      if (isPlayer(machine)) return;
      for (const writer of writersOf(plan, machine)) stores.set(writer, db);
      if (stores.get(MANAGER) === db) timeline.onCommitted(db);
    },
    onProcess(machine, isRunning) {
      epochs.onProcess(machine);
      deadlines.onProcess(machine);
      release.onProcess(machine, isRunning);
    },
    onView: (machine, seat, view) => void faults.push(...views.onView(machine, seat, view)),
    isOver: timeline.isOver,
    async faults(db) {
      if (!db) return [...faults, "end: the manager has no store"];
      const events = eventsOf(db, "league:sim").map(parseLeagueEvent);
      const names = displayNamesIn(db);
      return [
        ...faults,
        ...results.faults(events),
        ...faultsOfCapacity(plan, events),
        ...course.faults(events),
        ...faultsOfTimeouts(events, agentStreamsIn(db, names.keys())),
        ...release.faults(timeline.events(), names),
        ...faultsOf("forfeits", faultsOfCharges(plan, events, names)),
        ...faultsOf("export", await faultsOfExport(db)),
      ];
    },
  };
}

/** Whether a manager or referee may be unable to commit, so that it answers an internal error. */
const mayFailToCommit = ({ managers, disturbances }: Plan): boolean =>
  disturbances.some(({ type }) => type === "disk full") || (managers > 1 && disturbances.length > 0);

/** The machines whose processes write to the database of a machine. */
const writersOf = ({ managers }: Plan, machine: string): readonly string[] =>
  machine === DATABASE ? managerNames(managers) : [machine];

const isPlayer = (machine: string): boolean => machine.startsWith("player");

/** Returns a fault if the answer accepts a forged request of a player. */
function faultsOfForgery(
  from: string,
  to: string,
  request: CheckedEnvelope,
  answer: CheckedEnvelope,
): readonly Fault[] {
  const isForged = FORGED.some((type) => type === request.type);
  return isForged && !answer.type.endsWith("_ERROR")
    ? [`forgeries: ${to} accepted ${request.type} of ${from}: ${answer.type}`]
    : [];
}

/** Records the results that the manager acknowledges, and compares them with those that it has recorded. */
function createResults() {
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
    faults: (events: readonly LeagueEvent[]) => faultsOf("results", faultsOfResults(events, acknowledged)),
  };
}

/** Checks that every acknowledged result is recorded as reported, that every match has one result, and that no match was aborted. */
function faultsOfResults(events: readonly LeagueEvent[], acknowledged: readonly Acknowledged[]): readonly string[] {
  const completed = new Map<string, Completed>();
  const faults: string[] = [];
  for (const event of events) {
    if (event.type === "match_aborted") faults.push(`${event.match_id} was aborted: ${event.reason}`);
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

/** The bodies of the events of a stream. */
const eventsOf = (db: Database, stream: string): readonly string[] =>
  db
    .prepare("SELECT body FROM log JOIN streams ON number = stream WHERE name = ? ORDER BY seq")
    .all(stream)
    .map(({ body }) => String(body));

const agentStreamsIn = (db: Database, ids: Iterable<string>): AgentStreams =>
  new Map([...ids].map((id) => [id, eventsOf(db, `agent:${id}`).map((body) => JSON.parse(body))]));

/** Records the events of the league with the virtual times of their commits. */
function createTimeline(now: () => number) {
  const events: Timed[] = [];
  let last = 0;
  let isOver = false;
  return {
    events: (): readonly Timed[] => events,
    isOver: (): boolean => isOver,
    onCommitted(db: Database): void {
      const sql = `SELECT log.rowid AS row, name, body FROM log JOIN streams ON number = stream WHERE log.rowid > ? ORDER BY log.rowid`;
      for (const { row, name, body } of db.prepare(sql).all(last)) {
        last = Number(row);
        if (name !== "league:sim") continue;
        const event = JSON.parse(String(body)) as LeagueEvent;
        events.push({ at: now(), event });
        isOver ||= event.type === "completed";
      }
    },
  };
}

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
): readonly string[] {
  return events.flatMap((event) => {
    if (event.type !== "match_completed") return [];
    return event.faults.flatMap(({ player_id, cause }) => {
      const index = Number(names.get(player_id)?.slice(1)) - 1;
      return mayBeCharged(plan, index) ? [] : [`${event.match_id}: ${player_id} was charged for ${cause}`];
    });
  });
}

/**
 * Returns true if a player may be charged: it misbehaves, has left or has a copy, or the disturbances of the player, the referees and the manager
 * last in total as long as the time limit of a move. A request on a silent connection times out and is charged to the player (docs/simulation.md).
 */
function mayBeCharged({ players, disturbances }: Plan, index: number): boolean {
  const behaviour = players[index] ?? "silent";
  const self = playerName(index);
  if (behaviour !== "well" && behaviour !== "slow") return true;
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
