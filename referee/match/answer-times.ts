import type { AnswerTimes } from "#shared/protocol/message-fields.ts";

interface Measured {
  readonly timesMs: number[];
  slowest: { readonly ms: number; readonly tick: number };
  invalid: number;
}

/** The answer times of the players of one match, for MATCH_RESULT. A turn adds one number. After a restart of the referee they begin again. */
export class MatchAnswerTimes {
  readonly #players = new Map<string, Measured>();

  /** Records a turn whose action was accepted, with the time from its first request to the arrival of the accepted answer. */
  answered(playerId: string, tick: number, ms: number): void {
    const measured = this.#of(playerId);
    measured.timesMs.push(ms);
    if (ms > measured.slowest.ms) measured.slowest = { ms, tick };
  }

  /** Records an invalid answer, or an illegal action. */
  invalid(playerId: string): void {
    this.#of(playerId).invalid++;
  }

  /** Returns the times by player, without players that have completed no turn. */
  summary(): Record<string, AnswerTimes> {
    const measured = [...this.#players].filter(([, { timesMs }]) => timesMs.length > 0);
    return Object.fromEntries(measured.map(([playerId, times]) => [playerId, summaryOf(times)]));
  }

  #of(playerId: string): Measured {
    const known = this.#players.get(playerId);
    if (known) return known;
    const measured: Measured = { timesMs: [], slowest: { ms: -1, tick: 0 }, invalid: 0 };
    this.#players.set(playerId, measured);
    return measured;
  }
}

function summaryOf({ timesMs, slowest, invalid }: Measured): AnswerTimes {
  const sorted = Float64Array.from(timesMs).sort();
  /** The smallest time that at least this share of the turns does not exceed. */
  const quantile = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] as number;
  return {
    ...{ turns: sorted.length, median_ms: quantile(0.5), p95_ms: quantile(0.95) },
    ...{ max_ms: slowest.ms, max_tick: slowest.tick, invalid },
  };
}
