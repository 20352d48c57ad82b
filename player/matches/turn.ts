import type { Game } from "#shared/games/game.ts";
import type { GameId } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { GameInvite, MoveRequest } from "#shared/protocol/messages.ts";
import type { Turn } from "../sdk.ts";

/** The values that all turns of a match share. */
export interface TurnContext {
  readonly game: Game;
  readonly invite: GameInvite;
  readonly history: Turn["history"];
  /** Aborted when the match is over. */
  readonly end: AbortSignal;
  readonly log: (line: string) => void;
  readonly clock: Clock;
}

/** The turn for the nth try of a request. `legal`, `random` and `signal` are computed on first access, because they take time. */
export const turnOf = (match: TurnContext, request: MoveRequest, nth: number): Turn =>
  new PlayedTurn(match, request, nth) as unknown as Turn;

class PlayedTurn {
  readonly game: GameId;
  readonly role: string;
  readonly view: unknown;
  readonly tick: number;
  readonly history: Turn["history"];
  readonly clock: Turn["clock"];
  readonly log: Turn["log"];
  readonly #match: TurnContext;
  readonly #request: MoveRequest;
  readonly #nth: number;
  #legal: readonly unknown[] | undefined;
  #random: Random | undefined;
  #signal: AbortSignal | undefined;

  constructor(match: TurnContext, request: MoveRequest, nth: number) {
    const limitMs = request.time_limit_seconds * 1000;
    const { clock } = match;
    const deadline = new Date(clock.now() + limitMs);
    // Not computed from `deadline`, because the machine's clock may be changed in the meantime.
    const endsAt = clock.monotonic() + limitMs;
    this.game = match.invite.game as GameId;
    this.role = match.invite.your_role;
    this.view = request.game_state;
    this.tick = request.tick;
    this.history = match.history;
    this.clock = { deadline, remainingMs: () => endsAt - clock.monotonic() };
    this.log = match.log;
    this.#match = match;
    this.#request = request;
    this.#nth = nth;
    Object.defineProperties(this, PlayedTurn.#lazy);
  }

  /**
   * These are own properties, so that a bot can copy a turn, with getters that all turns share. V8 would put the getters of an object
   * literal into old memory, where their closure keeps the whole request until the next full collection.
   */
  static readonly #lazy: PropertyDescriptorMap & ThisType<PlayedTurn> = {
    legal: {
      enumerable: true,
      get() {
        const { game, invite } = this.#match;
        this.#legal ??= this.#request.legal_actions ?? [
          ...game.legalActions(this.#request.game_state, invite.your_role),
        ];
        return this.#legal;
      },
    },
    // The seed depends only on match seed, role, tick and try, so that a restarted player draws the same numbers, and another try others.
    random: {
      enumerable: true,
      get() {
        const again = this.#nth === 1 ? "" : `/${this.#nth}`;
        this.#random ??= createRandom(`${this.#match.invite.bot_seed}/${this.#request.tick}${again}`);
        return this.#random;
      },
    },
    signal: {
      enumerable: true,
      get() {
        const limitMs = Math.max(0, Math.ceil(this.#request.time_limit_seconds * 1000));
        this.#signal ??= AbortSignal.any([this.#match.end, this.#match.clock.timeout(limitMs)]);
        return this.#signal;
      },
    },
  };
}
