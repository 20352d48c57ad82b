import { median } from "../median.ts";
import type { Rate } from "../process.ts";
import type { Round } from "../rates.ts";

/** The table of the medians over all rounds, and the aims. */
export interface Summary {
  readonly rows: readonly (readonly string[])[];
  readonly aims: readonly Aim[];
}

/** An aim with the measured figure. `isMet` is null for an aim without a limit, which is only reported. */
export interface Aim {
  readonly aim: string;
  readonly measured: string;
  readonly isMet: boolean | null;
}

/** Returns the median of a figure over the rounds. */
export type MedianOf = (value: (round: Round) => number) => number;
/** Returns the row of a figure in microseconds per operation. */
export type MicrosecondsRow = (name: string, value: (round: Round) => number, note: string) => readonly string[];
/** Returns the row of a rate. */
export type RateRow = (name: string, rate: (round: Round) => Rate, note?: string) => readonly string[];

/** Functions that summarise figures over all rounds. */
export interface Figures {
  readonly medianOf: MedianOf;
  readonly rateRow: RateRow;
  readonly microsecondsRow: MicrosecondsRow;
}

/** Returns functions that summarise figures over these rounds. */
export function figuresOf(rounds: readonly Round[]): Figures {
  const medianOf: MedianOf = (value) => median(rounds.map(value));
  const rateRow: RateRow = (name, rate, note = "") => {
    const groups = Object.keys(rate(rounds[0] as Round).cpu);
    const parts = groups.map((group) => `${group} ${medianOf((round) => rate(round).cpu[group] ?? 0).toFixed(0)}`);
    const faults = rounds.reduce((sum, round) => sum + ((rate(round) as { faults?: number }).faults ?? 0), 0);
    const noteWithFaults = faults > 0 ? `${faults} FAULTS ${note}` : note;
    const rates = rounds.map((round) => rate(round).perSecond / 1_000);
    return [
      name,
      medianOf((round) => rate(round).perSecond).toFixed(0),
      `${Math.min(...rates).toFixed(1)}-${Math.max(...rates).toFixed(1)}k`,
      medianOf((round) => rate(round).cpuTotal).toFixed(0),
      parts.join(", "),
      `${(medianOf((round) => rate(round).others) * 100).toFixed(0)} %`,
      noteWithFaults,
    ];
  };
  const microsecondsRow: MicrosecondsRow = (name, value, note) => {
    const values = rounds.map(value);
    const range = `${(1_000 / Math.max(...values)).toFixed(1)}-${(1_000 / Math.min(...values)).toFixed(1)}k`;
    return [name, (1_000_000 / medianOf(value)).toFixed(0), range, medianOf(value).toFixed(1), "", "", note];
  };
  return { medianOf, rateRow, microsecondsRow };
}
