import { type Rule, ruleOf } from "../checks/rules.ts";

/** A deliberate fault in production code. `from` occurs exactly once in the file and is replaced by `to`. */
interface Change {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A fault that a test finds, and the simulation does not. */
export interface TestedMutation extends Change {
  /** The path of the test. */
  readonly foundBy: string;
}

/** A fault that the simulation must find. */
export interface Mutation extends Change {
  /** The rules that the fault breaks. A fault of another rule does not show that the simulation checks them. */
  readonly rules: readonly [Rule, ...Rule[]];
}

/** Returns the first line in the output of a simulation that names one of the rules, with its seed; null if there is none. */
export function evidenceIn(output: string, { rules }: Pick<Mutation, "rules">): string | null {
  let run = "";
  for (const line of output.split("\n")) {
    run = /^(seed \S+|a long league) fails/.exec(line)?.[1] ?? run;
    const rule = line.startsWith("  ") ? ruleOf(line.trimStart()) : null;
    if (rule !== null && rules.includes(rule)) return `${run}: ${line.trimStart()}`;
  }
  return null;
}
