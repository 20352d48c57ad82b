import { counted } from "#shared/lib/text.ts";
import type { LlmRecord } from "./records.ts";

/** The sums over the records of a player. */
export interface LlmTotals {
  readonly answers: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  /** Whether some tokens are estimated, because the endpoint does not count them. */
  readonly is_estimated: boolean;
  /** null without a price. */
  readonly cost: number | null;
  /** The median and the maximum duration of the requests with an answer; null without answers. */
  readonly latency_ms: { readonly median: number; readonly max: number } | null;
  /** The number of faults by cause. */
  readonly faults: Readonly<Record<string, number>>;
}

export function totalsOf(records: readonly LlmRecord[]): LlmTotals {
  const answers = records.filter((record) => record.type === "answer");
  const latencies = answers
    .flatMap(({ answer, latency_ms }) => (answer === null ? [] : [latency_ms]))
    .sort((a, b) => a - b);
  const faults: Record<string, number> = {};
  for (const record of records) {
    const cause =
      record.type === "rejected" ? "illegal_move" : record.type === "answer" ? record.fault?.cause : undefined;
    if (cause !== undefined) faults[cause] = (faults[cause] ?? 0) + 1;
  }
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    answers: latencies.length,
    tokens_in: sum(answers.map(({ tokens_in }) => tokens_in)),
    tokens_out: sum(answers.map(({ tokens_out }) => tokens_out)),
    is_estimated: answers.some(({ is_estimated }) => is_estimated),
    cost: answers.some(({ cost }) => cost !== null) ? sum(answers.map(({ cost }) => cost ?? 0)) : null,
    latency_ms:
      latencies.length === 0
        ? null
        : { median: latencies[Math.floor(latencies.length / 2)] ?? 0, max: latencies.at(-1) ?? 0 },
    faults,
  };
}

/** Returns the totals of a player on one line. */
export function totalsLine(totals: LlmTotals): string {
  const { answers, tokens_in, tokens_out, is_estimated, cost, latency_ms, faults } = totals;
  const count = (tokens: number): string => tokens.toLocaleString("en");
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const causes = Object.entries(faults).map(([cause, times]) => `${cause} ${times}`);
  return [
    counted(answers, "answer"),
    `${count(tokens_in)} tokens in, ${count(tokens_out)} out${is_estimated ? " (estimated)" : ""}`,
    ...(cost === null ? [] : [`cost ${Number(cost.toPrecision(4))}`]),
    ...(latency_ms === null
      ? []
      : [`latency ${seconds(latency_ms.median)} median, ${seconds(latency_ms.max)} at most`]),
    causes.length === 0 ? "no faults" : `faults: ${causes.join(", ")}`,
  ].join("; ");
}
