/** The rules that the checks verify, as docs/simulation.md lists them. */
export const RULES = [
  "end",
  "results",
  "managers",
  "capacity",
  "commit order",
  "moves",
  "clocks",
  "repeated requests",
  "turns",
  "views",
  "epochs",
  "deadlines",
  "release",
  "timeouts",
  "operators",
  "dialects",
  "schedule",
  "standings",
  "forgeries",
  "export",
  "forfeits",
  "sealed choices",
  "errors",
  "resources",
  "memory",
] as const;
export type Rule = (typeof RULES)[number];

/** A violation of a rule: the name of the rule and what was observed. */
export type Fault = `${Rule}: ${string}`;

/** Returns what a check has observed as faults of a rule. */
export const faultsOf = (rule: Rule, observed: Iterable<string>): readonly Fault[] =>
  [...observed].map((text): Fault => `${rule}: ${text}`);

/** Returns the rule that a fault names; null if the text is not a fault. */
export const ruleOf = (text: string): Rule | null => RULES.find((rule) => text.startsWith(`${rule}: `)) ?? null;
