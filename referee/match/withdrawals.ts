import { matchRef } from "#shared/lib/ids.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { protocolRejected } from "../sessions/rejections.ts";

interface Withdrawal {
  readonly epoch: number;
  /** null if the run is unknown. */
  readonly runId: string | null;
}

/** The number of withdrawals that are remembered. */
const MAX_WITHDRAWALS = 10_000;

/** The highest withdrawn epoch of each match, by `league_id/match_id`. It also contains matches that were not started yet. */
export class Withdrawals {
  readonly #byMatch = new Map<string, Withdrawal>();

  add(ref: string, epoch: number, runId: string | null): void {
    if (this.#byMatch.size >= MAX_WITHDRAWALS) this.#byMatch.delete(this.#byMatch.keys().next().value ?? "");
    const previous = this.#byMatch.get(ref);
    this.#byMatch.set(ref, { epoch: Math.max(epoch, previous?.runId === runId ? previous.epoch : 0), runId });
  }

  /** The rejection of an order whose match was withdrawn under its epoch or a later one; null if it was not. */
  rejectionOf({ league_id, match_id, epoch, run_id = null }: StartGame): ReturnType<typeof protocolRejected> | null {
    const ref = matchRef(league_id, match_id);
    const last = this.#byMatch.get(ref);
    const isOfRun = last?.runId === null || run_id === null || last?.runId === run_id;
    if (!last || !isOfRun || epoch > last.epoch) return null;
    const context = { match_id, epoch: last.epoch };
    return protocolRejected("MATCH_SUPERSEDED", `${ref} was withdrawn under epoch ${last.epoch}`, context);
  }
}
