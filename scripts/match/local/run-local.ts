import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { chained, GENESIS, type RecordedEvent } from "#shared/lib/hash.ts";
import { err, invariant, messageOf, ok } from "#shared/lib/result.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { gameFaultDisplay } from "#shared/runtime/game-faults.ts";
import { type Entry, eventOf } from "#shared/session/entry.ts";
import { participantsOf } from "#shared/session/match-result.ts";
import { type Command, create, decide, type Session } from "#shared/session/session.ts";
import { type MatchDriver, type MatchHost, notifyResult, playMatch } from "../../../referee/match/play-match.ts";
import {
  type Committed,
  explained,
  parsedSubmission,
  type StoredSession,
  type Submission,
} from "../../../referee/sessions/host.ts";
import { rejected } from "../../../referee/sessions/rejections.ts";
import type { MatchSystem } from "../setup.ts";
import { createLocalAsker, type LocalBots, type LocalPlayer } from "./local-bots.ts";
import type { LocalLeague } from "./local-league.ts";

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

/** Plays a match to its end. Rejects if the game or this program fails, which is the fault of no player. */
type PlayOrder = (order: StartGame) => Promise<MatchResult>;

/** Returns the function that plays matches between bots of this process with the driver of referees. `playerAt` returns the player at an endpoint. */
export function localMatches(
  playerAt: (endpoint: string) => LocalPlayer,
  system: Pick<MatchSystem, "clock" | "ids">,
): PlayOrder {
  const sessions = new LocalSessions(system);
  const driver: MatchDriver = {
    host: sessions,
    asker: createLocalAsker(playerAt, system.clock),
    clock: system.clock,
    ids: system.ids,
  };
  const { signal } = new AbortController();
  return async (order) => {
    const sessionId = sessions.create(order);
    try {
      const result = await playMatch(driver, order, sessionId, signal);
      await notifyResult(driver, order, sessionId, result, signal);
      return result;
    } finally {
      sessions.forget(sessionId);
    }
  };
}

/** A session in memory. The rows of its log are hashed when they are read, at its end. */
class LocalSession implements StoredSession {
  readonly access = { actedBy: "driver", spectators: "none" } as const;
  readonly #entries: Entry[];
  readonly #clock: Clock;
  session: Session;

  constructor(entry: Entry, session: Session, clock: Clock) {
    this.#entries = [entry];
    this.#clock = clock;
    this.session = session;
  }

  get rows(): readonly RecordedEvent[] {
    let head = GENESIS;
    return this.#entries.map((entry, seq) => {
      const row = chained(this.session.id, seq, head, eventOf(entry));
      head = row.hash;
      return row;
    });
  }

  run(command: Command): Committed {
    const decision = decide(this.session, command, this.#clock.iso());
    if (!decision.ok) return err({ ...decision.error, reason: this.session.reason });
    this.#entries.push(decision.value.entry);
    this.session = decision.value.next;
    return ok(this.session);
  }
}

/** The sessions of local matches. The result of a match is stored with its log at its end, so that nothing waits for the disk during a match. */
class LocalSessions implements MatchHost {
  readonly #sessions = new Map<string, LocalSession>();
  /** No other interface acts in these sessions. */
  readonly lobby: MatchHost["lobby"] = { inviting: () => () => {} };
  readonly #system: Pick<MatchSystem, "clock" | "ids">;

  constructor(system: Pick<MatchSystem, "clock" | "ids">) {
    this.#system = system;
  }

  /** Creates the session of an order. Returns its id. */
  create(order: StartGame): string {
    const { clock, ids } = this.#system;
    const game = findGame(order.game);
    invariant(game, `unknown game ${order.game}`);
    const roles = Object.fromEntries(Object.entries(order.roles).map(([role, { player_id }]) => [role, player_id]));
    const { entry, next } = create({
      id: ids.uuid(),
      game,
      options: game.options.parse(order.options ?? {}),
      participants: participantsOf({ league_id: order.league_id, match_id: order.match_id, roles }),
      seed: order.seed,
      clock: order.clock ?? null,
      at: clock.iso(),
    });
    this.#sessions.set(next.id, new LocalSession(entry, next, clock));
    return next.id;
  }

  read(sessionId: string): StoredSession | null {
    return this.#sessions.get(sessionId) ?? null;
  }

  async submit(sessionId: string, submission: Submission): Promise<Committed> {
    const found = this.#sessions.get(sessionId);
    if (!found) return rejected("UNKNOWN_SESSION");
    const parsed = parsedSubmission(found.session.game, submission);
    return explained(found.run(parsed.command), parsed);
  }

  async forfeit(sessionId: string, faults: Parameters<MatchHost["forfeit"]>[1]): Promise<Committed> {
    return this.#sessions.get(sessionId)?.run({ type: "forfeit", faults }) ?? rejected("UNKNOWN_SESSION");
  }

  /** Removes a session when its match is over. */
  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}
