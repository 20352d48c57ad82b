import type { Check, CheckContext, CheckId, Finding } from "./check.ts";
import { games } from "./checks/games.ts";
import { invitation } from "./checks/invitation.ts";
import { jsonRpc } from "./checks/json-rpc.ts";
import { malformed } from "./checks/malformed.ts";
import { moves } from "./checks/moves.ts";
import { notifications } from "./checks/notifications.ts";
import { parallel } from "./checks/parallel.ts";
import { reachable } from "./checks/reachable.ts";
import { registration } from "./checks/registration.ts";
import { repeated } from "./checks/repeated.ts";
import { series } from "./checks/series.ts";
import { slowNetwork } from "./checks/slow-network.ts";
import { token } from "./checks/token.ts";

/** All checks in their order. The number of a check is its position, from 1. */
export const CHECKS: readonly Check[] = [
  registration,
  reachable,
  jsonRpc,
  invitation,
  games,
  moves,
  notifications,
  repeated,
  malformed,
  slowNetwork,
  parallel,
  token,
  series,
];

export type Outcome = "pass" | "warn" | "fail" | "skipped";

export interface CheckResult {
  readonly number: number;
  readonly id: CheckId;
  readonly title: string;
  readonly outcome: Outcome;
  readonly summary: string;
  readonly findings: readonly Finding[];
  /** The number of the failed check for which this one was skipped; null for a check that has run. */
  readonly becauseOf: number | null;
  /** The lines that the player has printed during a check with findings. */
  readonly output: readonly string[];
}

/** Returns the selected checks and those that they need, in their order. */
export function selectedChecks(only: readonly CheckId[] | null): readonly Check[] {
  if (only === null) return CHECKS;
  const selected = new Set<CheckId>();
  const add = (id: CheckId): void => {
    selected.add(id);
    for (const need of CHECKS.find((check) => check.id === id)?.needs ?? []) add(need);
  };
  for (const id of only) add(id);
  return CHECKS.filter(({ id }) => selected.has(id));
}

/**
 * Runs checks in their order and passes each result to `onResult`. A check is skipped if a check that it needs has failed or was skipped, so that one
 * fault is reported once. `takeOutput` returns the lines that the player has printed since its last call.
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onResult: (result: CheckResult) => void,
  takeOutput: () => readonly string[] = () => [],
): Promise<readonly CheckResult[]> {
  const results = new Map<CheckId, CheckResult>();
  for (const check of checks) {
    const { id, title, needs } = check;
    const head = { number: CHECKS.indexOf(check) + 1, id, title };
    const blocking = needs.map((need) => results.get(need)).find((need) => need && isFailed(need));
    const becauseOf = blocking ? (blocking.becauseOf ?? blocking.number) : null;
    let result: CheckResult;
    if (becauseOf !== null) {
      result = {
        ...head,
        outcome: "skipped",
        summary: `because of check ${becauseOf}`,
        findings: [],
        becauseOf,
        output: [],
      };
    } else {
      const { summary, findings } = await check.run(context);
      const output = takeOutput();
      const shownOutput = findings.length === 0 ? [] : output;
      result = { ...head, outcome: outcomeOf(findings), summary, findings, becauseOf, output: shownOutput };
    }
    results.set(id, result);
    onResult(result);
  }
  return [...results.values()];
}

const isFailed = ({ outcome }: CheckResult): boolean => outcome === "fail" || outcome === "skipped";

function outcomeOf(findings: readonly Finding[]): Outcome {
  if (findings.length === 0) return "pass";
  return findings.some(({ severity }) => severity === "fail") ? "fail" : "warn";
}
