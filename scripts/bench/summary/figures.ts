import { median } from "../median.ts";
import type { Rate } from "../process.ts";
import type { Round } from "../rates.ts";

/** The medians of the rounds, and the ratios that the aims need. An aim without a limit is only reported. */
export interface Summary {
  readonly rows: readonly (readonly string[])[];
  readonly aims: readonly Aim[];
}

export interface Aim {
  readonly aim: string;
  readonly measured: string;
  readonly isMet: boolean | null;
}

/** The median of a figure over the rounds. */
export type Of = (value: (round: Round) => number) => number;
/** The row of a figure in microseconds. */
export type Us = (name: string, value: (round: Round) => number, note: string) => readonly string[];
/** The row of a rate. */
export type Row = (name: string, rate: (round: Round) => Rate, note?: string) => readonly string[];

export interface Figures {
  readonly of: Of;
  readonly row: Row;
  readonly us: Us;
}

export function figuresOf(rounds: readonly Round[]): Figures {
  const of: Of = (value) => median(rounds.map(value));
  const row: Row = (name, rate, note = "") => {
    const groups = Object.keys(rate(rounds[0] as Round).cpu);
    const parts = groups.map((group) => `${group} ${of((round) => rate(round).cpu[group] ?? 0).toFixed(0)}`);
    const faults = rounds.reduce((sum, round) => sum + ((rate(round) as { faults?: number }).faults ?? 0), 0);
    const noteOfFaults = faults > 0 ? `${faults} FAULTS ${note}` : note;
    const spread = rounds.map((round) => rate(round).perSecond / 1_000);
    return [
      name,
      of((round) => rate(round).perSecond).toFixed(0),
      `${Math.min(...spread).toFixed(1)}-${Math.max(...spread).toFixed(1)}k`,
      of((round) => rate(round).cpuTotal).toFixed(0),
      parts.join(", "),
      `${(of((round) => rate(round).others) * 100).toFixed(0)} %`,
      noteOfFaults,
    ];
  };
  const us: Us = (name, value, note) => {
    const all = rounds.map(value);
    const spread = `${(1_000 / Math.max(...all)).toFixed(1)}-${(1_000 / Math.min(...all)).toFixed(1)}k`;
    return [name, (1_000_000 / of(value)).toFixed(0), spread, of(value).toFixed(1), "", "", note];
  };
  return { of, row, us };
}
