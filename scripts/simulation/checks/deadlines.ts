import { endOf, type Plan } from "../plan.ts";
import type { CheckedEnvelope } from "./messages.ts";
import { type Fault, faultsOf } from "./rules.ts";

/** Checks the time limits of the requests for moves, by the times at which messages are sent. */
interface Deadlines {
  /** The process of a machine has started or ended. A referee that starts asks for the open moves again, each with the whole time. */
  onProcess(machine: string): void;
  /** Returns the faults of a request or report of a referee that was sent at the virtual time `sentAt`. */
  onRequest(from: string, to: string, request: CheckedEnvelope, sentAt: number): readonly Fault[];
  /** An answer of a player to a referee. */
  onAnswer(from: string, request: CheckedEnvelope, answer: CheckedEnvelope): void;
}

/** The requests of a referee to a role in one turn. */
interface Asked {
  readonly to: string;
  readonly tick: number;
  /** The time limit in the first request, and when it was sent. */
  readonly limitMs: number;
  readonly sentAt: number;
  /** The last answer of the player, which a further request follows. */
  answeredAt: number | null;
  /** The time of the first answer with each move. */
  readonly moves: Map<string, number>;
  /** The ids of the requests. A request that is sent again after a lost connection keeps its id. */
  readonly messages: Set<unknown>;
}

/** Time limits are rounded to milliseconds, in a request and in its repetitions. */
const ROUNDING_MS = 5;
/** The longest time from one attempt at a request to the next, with the delay of the message. */
const RETRY_MS = 2_500;
/**
 * The time that a referee may take to end a turn whose limit has passed, after the disturbances: a report without an answer is repeated after 5 s and
 * a pause, over a WebSocket that takes up to 5 s to be opened.
 */
const ENDING_MS = 15_000;

export function createDeadlines({ disturbances, clock }: Plan, now: () => number): Deadlines {
  const turns = new OpenTurns();
  /** The reports of a match may be lost, and repeated, until the disturbances have ended. */
  const calmAt = Math.max(0, ...disturbances.map(endOf));
  /** The first attempts at a request may be lost for this time. */
  const lostMs = RETRY_MS + Math.max(0, ...disturbances.map((one) => endOf(one) - one.at));
  return {
    onProcess: (machine) => turns.forget(machine),
    onRequest(from, to, request, sentAt) {
      const { type, payload } = request;
      // The limit of a turn with clocks may be shorter than that of an earlier one.
      if (type === "GAME_ERROR" && !clock)
        return faultsOfTimeout(turns.open(from, payload.match_id, to), request, sentAt, lostMs);
      if (type !== "MOVE_REQUEST" && type !== "MATCH_RESULT") return [];
      const tick = type === "MOVE_REQUEST" ? Number(payload.tick) : null;
      const late = lateFaults(turns.others(from, payload, tick), matchOf(payload), sentAt, calmAt);
      if (tick === null) return [...late, ...faultsOfLog(payload, (role, at) => turns.find(from, payload, role, at))];
      return [...late, ...faultsOfRepetition(turns, from, to, request, sentAt)];
    },
    onAnswer(from, { type, payload }, answer) {
      const asked = type === "MOVE_REQUEST" ? turns.find(from, payload, payload.your_role, Number(payload.tick)) : null;
      if (!asked) return;
      asked.answeredAt = now();
      const move = JSON.stringify(answer.payload.move);
      if (answer.type === "MOVE_RESPONSE" && !asked.moves.has(move)) asked.moves.set(move, now());
    },
  };
}

/** The turns that the processes of the referees have asked for, by referee, match and epoch; then by role and tick. */
class OpenTurns {
  readonly #byMatch = new Map<string, Map<string, Asked>>();

  find(from: string, payload: CheckedEnvelope["payload"], role: unknown, tick: number): Asked | undefined {
    return this.#byMatch.get(`${from} ${matchOf(payload)}`)?.get(`${role} ${tick}`);
  }

  /** The requests of the latest turn of a match, unless it is that of `tick`. */
  others(from: string, payload: CheckedEnvelope["payload"], tick: number | null): readonly Asked[] {
    const asked = [...(this.#byMatch.get(`${from} ${matchOf(payload)}`)?.values() ?? [])];
    const latest = Math.max(...asked.map((one) => one.tick));
    return latest === tick ? [] : asked.filter((one) => one.tick === latest);
  }

  /** The requests to a machine about a match that it has not answered. */
  open(from: string, matchId: unknown, to: string): readonly Asked[] {
    return [...this.#byMatch].flatMap(([key, asked]) =>
      key.startsWith(`${from} ${matchId}/`)
        ? [...asked.values()].filter((one) => one.to === to && one.answeredAt === null)
        : [],
    );
  }

  add(from: string, payload: CheckedEnvelope["payload"], asked: Asked): void {
    const key = `${from} ${matchOf(payload)}`;
    const ofMatch = this.#byMatch.get(key) ?? new Map<string, Asked>();
    this.#byMatch.set(key, ofMatch.set(`${payload.your_role} ${asked.tick}`, asked));
  }

  forget(machine: string): void {
    for (const key of this.#byMatch.keys()) if (key.startsWith(`${machine} `)) this.#byMatch.delete(key);
  }
}

/** Returns a fault if a referee sends something about a match long after an open turn should have ended. */
function lateFaults(open: readonly Asked[], match: string, sentAt: number, calmAt: number): readonly Fault[] {
  const endsAt = Math.max(...open.map((asked) => asked.sentAt + asked.limitMs));
  const lateMs = sentAt - Math.max(endsAt, calmAt);
  if (open.length === 0 || lateMs <= ENDING_MS) return [];
  return [`deadlines: ${match}: the turn of tick ${open[0]?.tick} ended ${Math.round(lateMs)} ms after its limit`];
}

/** Returns a fault if a player is told that it did not answer in time, although the time of its last request is not over, which was first sent up to `lostMs` before. */
function faultsOfTimeout(
  open: readonly Asked[],
  { payload }: CheckedEnvelope,
  sentAt: number,
  lostMs: number,
): readonly Fault[] {
  const last = open.toSorted((a, b) => a.sentAt - b.sentAt).at(-1);
  const restMs = last ? last.sentAt + last.limitMs - sentAt : 0;
  if (payload.error_code !== "G002" || restMs <= lostMs) return [];
  return [`deadlines: ${last?.to} was told ${Math.round(restMs)} ms before its limit that it had not answered in time`];
}

/** Returns a fault if a further request of a turn has more than the rest of its time. */
function faultsOfRepetition(
  turns: OpenTurns,
  from: string,
  to: string,
  { payload, message_id }: CheckedEnvelope,
  sentAt: number,
): readonly Fault[] {
  const tick = Number(payload.tick);
  const limitMs = Number(payload.time_limit_seconds) * 1_000;
  const asked = turns.find(from, payload, payload.your_role, tick);
  if (!asked) {
    const messages = new Set([message_id]);
    turns.add(from, payload, { to, tick, limitMs, sentAt, answeredAt: null, moves: new Map(), messages });
    return [];
  }
  if (asked.messages.has(message_id)) return [];
  asked.messages.add(message_id);
  const restMs = asked.limitMs - ((asked.answeredAt ?? asked.sentAt) - asked.sentAt);
  if (limitMs <= restMs + ROUNDING_MS) return [];
  const turn = `${matchOf(payload)}: a repeated request to ${payload.your_role} at tick ${tick}`;
  return [`deadlines: ${turn} has ${limitMs} ms instead of ${Math.round(restMs)} ms`];
}

/** Returns the moves in the log of a report that their players have sent after the time limit. */
function faultsOfLog(
  payload: CheckedEnvelope["payload"],
  find: (role: unknown, tick: number) => Asked | undefined,
): readonly Fault[] {
  const log = (payload.log as string[]).map((text) => JSON.parse(text) as Entry);
  return log.flatMap(({ type, role, tick = -1, action }): readonly Fault[] => {
    const asked = type === "acted" ? find(role, tick) : undefined;
    const answeredAt = asked?.moves.get(JSON.stringify(action));
    if (!asked || answeredAt === undefined || answeredAt <= asked.sentAt + asked.limitMs) return [];
    return [`deadlines: ${matchOf(payload)}: the move of ${role} at tick ${tick} was accepted after its limit`];
  });
}

interface Entry {
  readonly type: string;
  readonly role?: string;
  readonly tick?: number;
  readonly action?: unknown;
}

const matchOf = ({ match_id, epoch }: CheckedEnvelope["payload"]): string => `${match_id}/${epoch}`;

/** Checks the clocks in the requests of the referees and in the logs that they report, independently of the production code. */
interface Clocks {
  /** Returns a fault if a request has no clocks although the league has, or the reverse. */
  onRequest(request: CheckedEnvelope): readonly Fault[];
  /** Returns the faults of a referee's report: the clocks in its requests must follow from the log. */
  onReport(report: CheckedEnvelope): readonly Fault[];
}

/** A MOVE_REQUEST. */
interface AskedWithClock {
  readonly tick: number;
  readonly role: string;
  readonly remaining: Readonly<Record<string, number>> | undefined;
  /** Whether it is the first request to the role in this turn. The role has spent some of its time before a later one. */
  readonly isFirst: boolean;
}

/** The fields of a log entry that the check reads. */
interface ClockEntry {
  readonly type: string;
  readonly role: string;
  readonly tick: number;
  readonly spent_ms?: number;
  readonly clock?: { readonly initial_ms: number; readonly increment_ms: number };
}

export function createClocks({ clock }: Plan): Clocks {
  /** The requests about each match and epoch. */
  const asked = new Map<string, AskedWithClock[]>();

  /** The time of a role before the action of a tick: initial time + increments - charges. */
  const timeBefore = (log: readonly ClockEntry[], role: string, tick: number): number => {
    const acted = log.filter((entry) => entry.type === "acted" && entry.role === role && entry.tick < tick);
    const charges = acted.reduce((sum, { spent_ms = 0 }) => sum + spent_ms, 0);
    return (clock?.initial_ms ?? 0) + acted.length * (clock?.increment_ms ?? 0) - charges;
  };

  const isRight = (log: readonly ClockEntry[], { tick, role, remaining = {}, isFirst }: AskedWithClock): boolean =>
    Object.entries(remaining).every(([name, leftMs]) => {
      const expected = timeBefore(log, name, tick);
      return leftMs === expected || (name === role && !isFirst && leftMs >= 0 && leftMs < expected);
    });

  const faultOfLog = (log: readonly ClockEntry[]): string | null => {
    const [created, ...entries] = log;
    const control = created?.clock;
    if (control?.initial_ms !== clock?.initial_ms || control?.increment_ms !== clock?.increment_ms)
      return "its log has other clocks than the league";
    for (const { type, role, tick, spent_ms } of entries) {
      if (type !== "acted") continue;
      if ((spent_ms === undefined) !== (clock === undefined))
        return `tick ${tick} has no charge, or one without clocks`;
      if (spent_ms !== undefined && !(spent_ms >= 0 && spent_ms < timeBefore(log, role, tick)))
        return `${role} acted at tick ${tick} with more time than it had`;
    }
    return null;
  };

  return {
    onRequest({ type, payload }) {
      if (type !== "MOVE_REQUEST") return [];
      const match = matchOf(payload);
      const requests = asked.get(match) ?? [];
      const { tick, your_role: role, clock: sent } = payload as unknown as Request;
      const isFirst = !requests.some((one) => one.tick === tick && one.role === role);
      asked.set(match, [...requests, { tick, role, remaining: sent?.remaining_ms, isFirst }]);
      const hasClocks = sent?.initial_ms !== undefined;
      return hasClocks === (clock !== undefined)
        ? []
        : [`clocks: ${match}: the request at tick ${tick} has clocks: ${hasClocks}`];
    },
    onReport({ payload }) {
      const match = matchOf(payload);
      const log = (payload.log as string[]).map((text) => JSON.parse(text) as ClockEntry);
      if (log.length === 0) return [];
      const faultInLog = faultOfLog(log);
      const wrong = (asked.get(match) ?? []).find((request) => !isRight(log, request));
      return faultsOf("clocks", [
        ...(faultInLog ? [`${match}: ${faultInLog}`] : []),
        ...(wrong ? [`${match}: the clocks of the request at tick ${wrong.tick} do not follow from the log`] : []),
      ]);
    },
  };
}

interface Request {
  readonly tick: number;
  readonly your_role: string;
  readonly clock?: { readonly initial_ms: number; readonly remaining_ms: Readonly<Record<string, number>> };
}
