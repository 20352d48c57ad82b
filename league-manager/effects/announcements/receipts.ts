import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { parsedJson } from "#shared/lib/text.ts";

/** Short texts to the other managers of a run. A manager that is not connected misses them. */
export interface Signals {
  /** Sends a text of at most `MAX_SIGNAL_BYTES`. Errors are not reported. */
  send(text: string): void;
  onSignal(listener: (text: string) => void): () => void;
}

/** The maximum size of a signal. */
const MAX_SIGNAL_BYTES = 7_000;
/** The receipts of this time are sent together. */
const COLLECT_MS = 50;

const Receipt = z.object({
  type: z.literal("announced"),
  league_id: z.string(),
  round_id: z.int(),
  player_ids: z.array(z.string()),
});

interface ReceiptsOptions {
  readonly signals: Signals;
  readonly clock: Pick<Clock, "after">;
  /** Called when another manager has announced a round to a player. */
  readonly onReceived: (leagueId: string, roundId: number, playerId: string) => void;
}

/** Informs the other managers which players have received the announcement of a round, because they may then be invited to their matches. */
export class Receipts {
  readonly #options: ReceiptsOptions;
  /** Player ids by league and round. */
  readonly #unsent = new Map<string, { readonly leagueId: string; readonly roundId: number; readonly ids: string[] }>();
  readonly #removeListener: () => void;
  #cancel: (() => void) | null = null;

  constructor(options: ReceiptsOptions) {
    this.#options = options;
    this.#removeListener = options.signals.onSignal((text) => this.#onSignal(text));
  }

  add(leagueId: string, roundId: number, playerId: string): void {
    const key = `${leagueId}/${roundId}`;
    const unsent = this.#unsent.get(key) ?? { leagueId, roundId, ids: [] };
    this.#unsent.set(key, unsent);
    unsent.ids.push(playerId);
    this.#cancel ??= this.#options.clock.after(COLLECT_MS, () => this.#send());
  }

  stop(): void {
    this.#removeListener();
    this.#cancel?.();
    this.#send();
  }

  #send(): void {
    this.#cancel = null;
    for (const { leagueId, roundId, ids } of this.#unsent.values()) {
      for (const player_ids of parts(ids, MAX_SIGNAL_BYTES - leagueId.length * 3 - 100)) {
        this.#options.signals.send(
          JSON.stringify({ type: "announced", league_id: leagueId, round_id: roundId, player_ids }),
        );
      }
    }
    this.#unsent.clear();
  }

  #onSignal(text: string): void {
    const receipt = Receipt.safeParse(parsedJson(text)); // other kinds of signals need not be JSON
    if (!receipt.success) return;
    const { league_id, round_id, player_ids } = receipt.data;
    for (const playerId of player_ids) this.#options.onReceived(league_id, round_id, playerId);
  }
}

/** Divides ids into lists of at most this number of bytes as JSON. */
function parts(ids: readonly string[], maxBytes: number): readonly (readonly string[])[] {
  const lists: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const id of ids) {
    const bytes = Buffer.byteLength(JSON.stringify(id)) + 1;
    if (size + bytes > maxBytes) {
      lists.push([]);
      size = 0;
    }
    lists.at(-1)?.push(id);
    size += bytes;
  }
  return lists;
}
