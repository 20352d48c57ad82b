import type { Plan } from "../plan.ts";
import { matchOf } from "./deadlines.ts";
import type { CheckedEnvelope } from "./envelopes.ts";
import { type Fault, faultsOf } from "./rules.ts";

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
