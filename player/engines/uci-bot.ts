import { withoutRookCapture } from "#shared/games/chess/moves.ts";
import { chess } from "#shared/games/chess.ts";
import type { GameId } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { UciSettings } from "#shared/runtime/config/uci.ts";
import { hashOfCommand } from "../bot-hash.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import type { MatchInfo, Turn } from "../sdk.ts";
import { goCommand, limitsOf, usableMs } from "./uci-go.ts";
import { positionCommand, startOf } from "./uci-position.ts";
import { nameOf } from "./uci-process.ts";
import { EngineSlots, type ProcessLimits, type Slot } from "./uci-slots.ts";
import { settingsIn, UCI_PREFIX } from "./uci-spec.ts";

/** The games of the Universal Chess Interface (UCI). */
export const UCI_GAMES: readonly GameId[] = ["chess.v1"];

type ChessTurn = Turn<"chess.v1">;

/** The time for which the answer to an invitation waits for `ucinewgame`. After it the first search waits. */
const PREPARE_MS = 3_000;

/**
 * Starts a UCI chess engine as a bot. Throws StartError (exit code 3) if `spec` is not valid, or if the engine does not start or
 * does not accept its options. If the process of the engine ends later, the next search starts another one, so that a position that
 * crashes the engine costs only its own match.
 */
export async function uciBot(spec: string, clock: Clock, limits?: ProcessLimits): Promise<LoadedBot> {
  const settings = settingsIn(spec);
  const slots = new EngineSlots(settings, clock, limits);
  await slots.open();
  return {
    name: `${UCI_PREFIX}${nameOf(settings)}`,
    games: UCI_GAMES,
    hash: hashOf(settings),
    readsHistory: false,
    readsLegalActions: false,
    create: () => new EngineMatch({ settings, slots, clock }),
    close: () => slots.close(),
  };
}

/** The settings are part of the version of the bot. The folder and the time for the start are not, because they differ between machines. */
export function hashOf({ folder, command, options, start_ms: _, ...limits }: UciSettings): string {
  const values = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  return hashOfCommand([nameOf({ command }), JSON.stringify(limits), ...values.sort()].join(" "), folder);
}

interface Parts {
  readonly settings: UciSettings;
  readonly slots: EngineSlots;
  readonly clock: Clock;
}

/** Plays one match. */
class EngineMatch implements MatchBot {
  readonly #parts: Parts;
  #slot: Slot | null = null;
  /** The position in which the moves of the match begin; null before the match has begun. */
  #start: string | null = null;
  #reportsScores = false;
  /** The searches that are under way or wait for their process. */
  readonly #searches = new Set<AbortController>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async start({ options }: MatchInfo, waitMs = PREPARE_MS): Promise<void> {
    const parsed = chess.options.safeParse(options ?? {});
    this.#start = startOf(options);
    this.#reportsScores = parsed.data?.resign_score !== undefined || parsed.data?.draw_score !== undefined;
    const slot = this.#assigned();
    // A process that other matches use may search for a long time.
    if (slot.matches.size !== 1) return;
    const { slots, clock } = this.#parts;
    const prepared = slots.prepare(this, slot);
    prepared.catch(() => {}); // the first search reports a failure that comes after the invitation is answered
    const late = new AbortController();
    await Promise.race([prepared, clock.pause(waitMs, late.signal)]).finally(() => late.abort());
  }

  async choose(asked: Turn): Promise<string> {
    const turn = asked as ChessTurn;
    const { fen } = turn.view;
    const { slots, settings } = this.#parts;
    const leftMs = turn.clock.remainingMs();
    const limits = limitsOf(settings, turn.clock);
    const over = this.#newSearch(usableMs(leftMs));
    const search = {
      position: positionCommand(this.#start, turn.view),
      go: () => goCommand(limits, turn, leftMs - turn.clock.remainingMs()),
      nodes: limits.nodes ?? null,
      signal: over.signal,
    };
    const { move, score } = await slots.search(this, this.#assigned(), search).finally(over.release);
    if (!/^[a-h][1-8]/.test(move)) {
      throw new Error(
        `engine "${nameOf(settings)}" found no move: it answered "bestmove ${move}" in the position ${fen}`,
      );
    }
    const answer = withoutRookCapture(fen, move);
    return this.#reportsScores && score !== null ? `${answer} ${score}` : answer;
  }

  end(): void {
    this.close();
  }

  close(): void {
    for (const search of this.#searches) search.abort();
    if (this.#slot !== null) this.#parts.slots.release(this, this.#slot);
    this.#slot = null;
  }

  #assigned(): Slot {
    this.#slot ??= this.#parts.slots.assign(this);
    return this.#slot;
  }

  /**
   * Returns a signal that ends a search after `limitMs`, or when the match is over. The signal of the turn would do it as well, but it takes 20 µs to
   * combine signals.
   */
  #newSearch(limitMs: number): { readonly signal: AbortSignal; readonly release: () => void } {
    const search = new AbortController();
    if (limitMs <= 0) search.abort();
    const cancel = this.#parts.clock.after(limitMs, () => search.abort());
    this.#searches.add(search);
    const release = (): void => {
      cancel();
      this.#searches.delete(search);
    };
    return { signal: search.signal, release };
  }
}
