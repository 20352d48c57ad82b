import { FAULT_KINDS } from "../faults/plan.ts";
import type { Proof } from "../proof.ts";
import type { MatchCost } from "./comparison.ts";

/** The report that is printed on stdout. */
export interface ClusterReport {
  readonly seed: string;
  readonly proof: Proof;
  readonly costs: readonly MatchCost[];
}

const GROUPS = ["managers", "database", "proxy", "referees", "players"] as const;

const MAX_FAULTS = 20;

/** Returns a table with one row for each number of managers. The columns after the rate are milliseconds of processor time per match. */
export function costLines(costs: readonly MatchCost[]): readonly string[] {
  if (costs.length === 0) return [];
  const header = ["managers", "matches/s", "CPU ms", ...GROUPS, "live update ms (median, p95)"];
  const rows = costs.map(({ managers, matchesPerSecond, cpuTotalMs, cpuMs, liveUpdateMs }) => [
    String(managers),
    matchesPerSecond.toFixed(1),
    cpuTotalMs.toFixed(2),
    ...GROUPS.map((name) => (cpuMs[name] ?? 0).toFixed(2)),
    liveUpdateMs === null ? "" : `${liveUpdateMs.median.toFixed(1)}, ${liveUpdateMs.p95.toFixed(1)}`,
  ]);
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  return [header, ...rows].map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("  "));
}

/** Returns the figures and the faults of a run. */
export function proofLines(proof: Proof): readonly string[] {
  const { matches, seconds, matchesPerSecond, bytesPerMatch, injected } = proof;
  const kinds = FAULT_KINDS.flatMap((kind) => {
    const times = injected.filter((fault) => fault.kind === kind).map(({ healedAfterMs }) => healedAfterMs / 1_000);
    if (times.length === 0) return [];
    const longest = Math.max(...times).toFixed(1);
    return [`  ${kind}: ${times.length} times, over after at most ${longest} s`];
  });
  const cpu = GROUPS.map((name) => `${name} ${(proof.cpuMs[name] ?? 0).toFixed(2)}`).join(", ");
  return [
    `${matches} matches in ${seconds.toFixed(0)} s, ${matchesPerSecond.toFixed(1)} per second`,
    `CPU time per match in ms: ${cpu}`,
    `bytes per match: ${bytesPerMatch.database.toFixed(0)} in the database, ${bytesPerMatch.writeAheadLog.toFixed(0)} in the write-ahead log`,
    `assignments that were discarded and played again: ${proof.discarded}`,
    ...(kinds.length === 0 ? [] : ["faults injected:", ...kinds]),
    ...(proof.faults.length === 0
      ? ["no fault found"]
      : [...proof.faults.slice(0, MAX_FAULTS), `faults found: ${proof.faults.length}`]),
  ];
}
