import { styleText } from "node:util";
import { counted, escapeUnprintable } from "#shared/lib/text.ts";
import type { Finding } from "../check.ts";
import type { Subject } from "../league/subject.ts";
import type { CheckResult, Outcome } from "../run-checks.ts";
import { hidden, shownExchange } from "./evidence.ts";

/** The document that `league check --json` prints. */
interface CheckDocument {
  /** The name of the player; null if it has not registered. */
  readonly player: string | null;
  readonly endpoint: string | null;
  readonly dialect: string | null;
  /** Whether no check has failed. */
  readonly passed: boolean;
  readonly checks: readonly object[];
}

export function documentOf(
  subject: Subject | null,
  results: readonly CheckResult[],
  secrets: readonly string[],
): CheckDocument {
  return {
    player: subject?.name ?? null,
    endpoint: subject?.endpoint ?? null,
    dialect: subject?.dialect ?? null,
    passed: results.every(({ outcome }) => outcome !== "fail"),
    checks: results.map(({ number, id, title, outcome, summary, findings, becauseOf, output }) => ({
      ...{ number, id, title, outcome, summary: hidden(summary, secrets), because_of: becauseOf },
      output: output.map((line) => hidden(line, secrets)),
      findings: findings.map(({ severity, summary, advice, exchanges }) => ({
        ...{ severity, summary: hidden(summary, secrets), advice: hidden(advice, secrets) },
        exchanges: exchanges.map((exchange) => shownExchange(exchange, secrets)),
      })),
    })),
  };
}

const WORDS: Readonly<Record<Outcome, string>> = { pass: "pass", warn: "WARN", fail: "FAIL", skipped: "skip" };
const COLORS = { pass: "green", warn: "yellow", fail: "red", skipped: "dim" } as const;
const INDENT = " ".repeat(9);

/** Returns the lines about one check: its outcome and, for each finding, the exchange that shows it and how to fix it. */
export function linesOf(result: CheckResult, secrets: readonly string[]): readonly string[] {
  const { number, title, outcome, summary, findings, output } = result;
  const clean = (text: string): string => escapeUnprintable(hidden(text, secrets));
  const head = `${String(number).padStart(2)}  ${styleText(COLORS[outcome], WORDS[outcome])} ${title}`;
  if (findings.length === 0) return [`${head}: ${clean(summary)}`];
  const about = [
    ...findings.flatMap((finding) => findingLines(finding, clean, secrets)),
    ...output.map((line) => `the player has printed: ${clean(line)}`),
  ];
  return [head, ...about.map((line) => `${INDENT}${line}`)];
}

function findingLines(
  { summary, advice, exchanges }: Finding,
  clean: (text: string) => string,
  secrets: readonly string[],
): readonly string[] {
  const shown = exchanges
    .map((exchange) => shownExchange(exchange, secrets))
    .flatMap(({ from, request_line, request, reply_line, reply }) => [
      `${from === "check" ? "request" : "the player has sent"} ${request_line}`,
      ...(request === "" ? [] : [`  ${request}`]),
      `${from === "check" ? "reply" : "it was answered with"} ${reply_line}`,
      ...(reply === "" ? [] : [`  ${reply}`]),
    ]);
  return [clean(summary), ...shown, `To fix it: ${clean(advice)}`];
}

/** Returns the last line: how many checks have passed, failed and so on. */
export function closingLine(results: readonly CheckResult[]): string {
  const count = (outcome: Outcome): number => results.filter((result) => result.outcome === outcome).length;
  const parts = [
    `${counted(count("pass"), "check")} passed`,
    ...(count("warn") > 0 ? [counted(count("warn"), "warning")] : []),
    ...(count("fail") > 0 ? [`${count("fail")} failed`] : []),
    ...(count("skipped") > 0 ? [`${count("skipped")} skipped`] : []),
  ];
  return parts.join(", ");
}
