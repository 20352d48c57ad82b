import { messageOf } from "#shared/lib/result.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { gameFaultDisplay } from "#shared/runtime/game-faults.ts";
import type { MatchSystem } from "../system.ts";
import type { LocalBots } from "./local-bots.ts";
import type { LocalLeague } from "./local-league.ts";
import { localMatches, type PlayOrder } from "./local-match.ts";

interface LocalRunOptions {
  readonly system: Pick<MatchSystem, "clock" | "ids">;
  readonly league: LocalLeague;
  readonly bots: LocalBots;
  /** The number of games that are played at the same time. */
  readonly concurrency: number;
  /** Whether results can end the pairing. The format is then asked between batches of games, so that the end does not depend on the speed of games. */
  readonly isTested: boolean;
  /** Aborted by Ctrl-C: no further game begins. */
  readonly signal: AbortSignal;
  /** Called with the result of each recorded game. */
  readonly onGame: (result: MatchResult) => void;
  readonly warn: (line: string) => void;
}

/** The number of games that are assigned in advance, so that the disk does not delay the games. */
const AHEAD = 256;
/** The number of games that are paired together, because the format looks at all games each time. */
const PAIRED = 1_000;
/** The number of games between two looks at a sequential test: at least this many, and a sixteenth of the games so far. */
const BATCH = 16;
/** The number of games that are played again in separate processes at the same time. */
const SEPARATE_GAMES = 2;
/** The number of results that may wait for the disk. */
const MAX_UNRECORDED = 500;

/**
 * Plays the games of a league in this process until the format has no further game. Resolves when all results are on disk: true if the league is
 * completed, false after an interruption, whose open games are played again when the run is resumed.
 */
export async function runLocal(options: LocalRunOptions): Promise<boolean> {
  const { league, concurrency, signal } = options;
  const run = new LocalRun(options);
  await Promise.all(Array.from({ length: concurrency }, () => run.playGames()));
  await run.recorded();
  if (signal.aborted) return false;
  await league.complete();
  return true;
}

class LocalRun {
  readonly #options: LocalRunOptions;
  readonly #play: PlayOrder;
  readonly #showGameFault: (thrown: unknown) => boolean;
  /** The ids of the assigned games that have not begun. */
  readonly #ready: string[];
  readonly #unrecorded = new Set<Promise<void>>();
  /** Each promise resolves when a place for a game in separate processes is free. */
  readonly #separatePlaces: Promise<unknown>[] = Array.from({ length: SEPARATE_GAMES }, () => Promise.resolve());
  #nextPlace = 0;
  #refilling: Promise<void> | null = null;
  /** The number of games that are not recorded yet. */
  #open = 0;
  /** Resolved when a game is recorded or given up. */
  #closing = Promise.withResolvers<void>();

  constructor(options: LocalRunOptions) {
    this.#options = options;
    this.#play = localMatches((endpoint) => options.bots.at(endpoint), options.system);
    this.#showGameFault = gameFaultDisplay(options.warn);
    this.#ready = [...options.league.assigned()];
  }

  /** Plays games one after the other until there is none. */
  async playGames(): Promise<void> {
    const { signal, league } = this.#options;
    while (!signal.aborted) {
      const matchId = await this.#next();
      if (matchId === null) return;
      const order = league.orderOf(matchId);
      if (order === null) continue;
      await this.#playGame(order);
      // Games between bots of this thread are played without a wait, so timers and signals need a turn.
      await this.#options.system.clock.nextTurn();
    }
  }

  async recorded(): Promise<void> {
    while (this.#unrecorded.size > 0) await Promise.all(this.#unrecorded);
  }

  async #playGame(order: StartGame): Promise<void> {
    this.#open++;
    const result = await this.#result(order);
    // Ctrl-C also ends the processes of bots. The games that they did not finish are played again when the run is resumed.
    if (result.termination !== "normal") await this.#options.system.clock.nextTurn();
    if (this.#options.signal.aborted && result.termination !== "normal") return this.#close();
    const recording = this.#record(result);
    this.#unrecorded.add(recording);
    // A recording that fails stays in the set, so that `recorded` reports its error.
    recording.then(
      () => this.#unrecorded.delete(recording),
      () => {},
    );
    if (result.termination === "aborted" || this.#unrecorded.size > MAX_UNRECORDED) await recording;
  }

  async #record(result: MatchResult): Promise<void> {
    try {
      await this.#options.league.record(result);
      this.#options.onGame(result);
    } finally {
      this.#close();
    }
  }

  /** Marks a game as closed, and wakes the players that wait for a change. */
  #close(): void {
    this.#open--;
    this.#closing.resolve();
    this.#closing = Promise.withResolvers();
  }

  /** Plays a game. If a bot is at fault whose process also plays other games, the game is played again in a separate process, and that result counts. */
  async #result(order: StartGame): Promise<MatchResult> {
    const { bots } = this.#options;
    const result = await this.#attempt(order, (playerId) => bots.endpointOf(playerId));
    if (!result.faults.some(({ player_id }) => bots.sharesProcess(player_id))) return result;
    const place = this.#nextPlace++ % SEPARATE_GAMES;
    const playing = (this.#separatePlaces[place] as Promise<unknown>).then(() => this.#playSeparately(order));
    this.#separatePlaces[place] = playing;
    return playing;
  }

  async #playSeparately(order: StartGame): Promise<MatchResult> {
    const ids = Object.values(order.roles).map(({ player_id }) => player_id);
    const endpoints = new Map<string, string>();
    for (const id of ids) endpoints.set(id, await this.#options.bots.separateEndpointOf(id));
    return this.#attempt(order, (playerId) => endpoints.get(playerId) ?? "");
  }

  async #attempt(order: StartGame, endpointOf: (playerId: string) => string): Promise<MatchResult> {
    const { bots } = this.#options;
    const seats = Object.entries(order.roles).map(([role, seat]) => {
      const legal_actions = seat.legal_actions && bots.readsLegalActions(seat.player_id);
      return [role, { ...seat, endpoint: endpointOf(seat.player_id), legal_actions }];
    });
    try {
      return await this.#play({ ...order, roles: Object.fromEntries(seats) });
    } catch (thrown) {
      if (!this.#showGameFault(thrown))
        this.#options.warn(`${order.match_id}: ${thrown instanceof Error ? thrown.stack : messageOf(thrown)}`);
      return failedResult(order);
    }
  }

  /** The id of the next game; null if there is none. */
  async #next(): Promise<string | null> {
    const { signal, isTested } = this.#options;
    while (!signal.aborted) {
      const next = this.#ready.shift();
      if (!isTested && this.#ready.length < AHEAD / 2) void this.#refill();
      if (next !== undefined) return next;
      if (!isTested || this.#open === 0) await this.#refill();
      if (this.#ready.length > 0) continue;
      if (this.#open === 0) return null;
      await this.#closing.promise; // the format may add games after the results of the open games
    }
    return null;
  }

  /** The number of games that are to be ready. */
  #ahead(): number {
    const { isTested, concurrency, league } = this.#options;
    if (!isTested) return AHEAD + concurrency;
    const batch = Math.floor(league.league.completedCount / BATCH);
    return Math.max(BATCH, batch - (batch % 2)); // pairs of games
  }

  /** Pairs and assigns games, unless that is under way. */
  #refill(): Promise<void> {
    this.#refilling ??= this.#assignNext().finally(() => {
      this.#refilling = null;
    });
    return this.#refilling;
  }

  async #assignNext(): Promise<void> {
    const { league } = this.#options;
    const missing = this.#ahead() - this.#ready.length;
    const slots = missing - league.unassigned().length;
    if (slots > 0) await league.pair(this.#options.isTested ? slots : PAIRED);
    const matchIds = league.unassigned().slice(0, Math.max(0, missing));
    await league.assign(matchIds);
    this.#ready.push(...matchIds);
  }
}

/** The public reason of a game that failed, as referees state it. */
const INTERNAL_ERROR = "the referee could not play the match; its log has the cause";

function failedResult({ league_id, round_id, match_id, epoch }: StartGame): MatchResult {
  const empty = { winner: null, final_scores: {}, match_points: {}, faults: [], log_head: "", log: [] };
  return { league_id, round_id, match_id, epoch, ...empty, termination: "aborted", reason: INTERNAL_ERROR };
}
