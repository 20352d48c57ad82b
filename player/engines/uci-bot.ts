import { withoutRookCapture } from "#shared/games/chess/moves.ts";
import { type ChessView, chess } from "#shared/games/chess.ts";
import type { GameId } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { didYouMean, parsedJson } from "#shared/lib/text.ts";
import { UciSettings } from "#shared/runtime/config/uci.ts";
import { UCI_NODES } from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { hashOfCommand, type LoadedBot, type MatchBot } from "../loaded-bot.ts";
import type { MatchInfo, Turn } from "../sdk.ts";
import { EngineSlots, nameOf, type ProcessLimits, type Slot } from "./uci-process.ts";

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

/** Begins the text that selects an engine as a bot. */
export const UCI_PREFIX = "uci:";

const OPTION = "option.";
const LIMITS = ["nodes", "depth", "movetime_ms", "start_ms"];
const FORM = "nodes=N, depth=N, movetime_ms=N, start_ms=N or option.NAME=VALUE";

/** The text that selects an engine of a config as a bot. */
export const uciSpec = (settings: UciSettings): string => `${UCI_PREFIX}${JSON.stringify(settings)}`;

/**
 * Returns the settings of `uci:COMMAND`, `uci:COMMAND#SETTINGS` or the text of `uciSpec`. SETTINGS are separated by commas:
 * `depth=8,option.Hash=16`. Throws StartError if they are not valid.
 */
export function settingsIn(spec: string): UciSettings {
  const text = spec.slice(UCI_PREFIX.length).trim();
  const json = text.startsWith("{") ? parsedJson(text) : undefined;
  const parsed = UciSettings.safeParse(json ?? settingsOfText(text));
  if (parsed.success) return parsed.data;
  throw new StartError(parsed.error.issues.map(faultLine).join("\n"), EXIT.config);
}

function settingsOfText(text: string): Record<string, unknown> {
  const [, command = text, settings] = /^(.*)#([\w.][^#=]*=[^#]*)$/.exec(text) ?? [];
  const folder = process.cwd();
  const pairs = (settings?.split(",") ?? []).map((pair) => pairOf(pair));
  const options = pairs.filter(([name]) => name.startsWith(OPTION));
  return {
    command: command.trim(),
    folder,
    ...Object.fromEntries(
      pairs.filter(([name]) => LIMITS.includes(name)).map(([name, value]) => [name, Number(value)]),
    ),
    options: Object.fromEntries(options.map(([name, value]) => [name.slice(OPTION.length), value])),
  };
}

function pairOf(pair: string): readonly [name: string, value: string] {
  const [, name = pair, value] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
  const fault = (reason: string): StartError => new StartError(reason, EXIT.config);
  if (value === undefined) throw fault(`the setting "${pair}" has no value: give ${FORM}`);
  if (name.startsWith(OPTION) && name.length > OPTION.length) return [name, value];
  if (!LIMITS.includes(name)) throw fault(`unknown setting "${name}"${didYouMean(name, LIMITS) || "."} Give ${FORM}`);
  if (!/^[1-9]\d*$/.test(value)) throw fault(`${name} is "${value}": give a whole number from 1`);
  return [name, value];
}

const INITIAL = chess.options.parse({}).fen;

/** Returns the position in which the moves of a match with these options begin. */
export const startOf = (options: unknown): string => chess.options.safeParse(options ?? {}).data?.fen ?? INITIAL;

/**
 * Returns the position of a turn as a command of UCI, with the moves of the match, which an engine needs to see repetitions. `start` is the position in
 * which they begin; null if it is not known. The view of a referee of an earlier version has no moves.
 */
export function positionCommand(start: string | null, { fen, moves }: ChessView): string {
  if (start === null || moves === undefined) return `position fen ${fen}`;
  const begin = start === INITIAL ? "startpos" : `fen ${start}`;
  return ["position", begin, ...(moves.length > 0 ? ["moves", ...moves] : [])].join(" ");
}

type Limits = Pick<UciSettings, "nodes" | "depth" | "movetime_ms">;

/** The limits of a search, as far as they are not the clocks of the match. */
interface SearchLimits {
  readonly nodes?: number;
  readonly depth?: number;
  readonly movetime?: number;
}

/** Returns the limits of the settings. Without them it is a number of nodes, or no limit in a match with clocks. */
export function limitsOf({ nodes, depth, movetime_ms }: Limits, { match }: Turn["clock"]): SearchLimits {
  const limits = {
    ...(nodes !== undefined && { nodes }),
    ...(depth !== undefined && { depth }),
    ...(movetime_ms !== undefined && { movetime: movetime_ms }),
  };
  return match === null && Object.keys(limits).length === 0 ? { nodes: UCI_NODES } : limits;
}

/** The time that is kept for messages, at most a quarter of the time that is left, so that a move arrives in time. */
const RESERVE_MS = 250;

/** Returns the time that an engine may use of the time that its player has left, in whole milliseconds. */
const usableMs = (leftMs: number): number => Math.max(0, Math.floor(leftMs - Math.min(RESERVE_MS, leftMs / 4)));

/**
 * Returns the command `go` with the limits, or with the clocks of the match if there are none. `waitedMs` is the time for which the turn
 * has waited for other searches.
 */
export function goCommand(
  limits: SearchLimits,
  { role, clock }: Pick<Turn, "role" | "clock">,
  waitedMs: number,
): string {
  const words = Object.entries(limits).flat();
  if (words.length > 0 || clock.match === null) return ["go", ...words].join(" ");
  const { remainingMs, incrementMs } = clock.match;
  const left = (color: "white" | "black"): number => {
    const ms = remainingMs[color] ?? 0;
    return Math.max(1, color === role ? usableMs(ms - waitedMs) : Math.round(ms));
  };
  return `go wtime ${left("white")} btime ${left("black")} winc ${incrementMs} binc ${incrementMs}`;
}
