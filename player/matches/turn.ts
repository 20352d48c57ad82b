import type { Game } from "#shared/games/game.ts";
import type { GameId } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { GameInvite, MoveRequest } from "#shared/protocol/messages.ts";
import type { Turn } from "../sdk.ts";

/** What the turns of one match have in common. */
export interface TurnOf {
  readonly game: Game;
  readonly invite: GameInvite;
  readonly history: Turn["history"];
  /** Aborted when the match is over. */
  readonly end: AbortSignal;
  readonly log: (line: string) => void;
  readonly clock: Clock;
}

/** A turn as its bot sees it, at its nth try. What takes time to make (`legal`, `random`, `signal`) is made when it is first read. */
export const turnOf = (match: TurnOf, request: MoveRequest, nth: number): Turn =>
  new PlayedTurn(match, request, nth) as unknown as Turn;

class PlayedTurn {
  readonly game: GameId;
  readonly role: string;
  readonly view: unknown;
  readonly tick: number;
  readonly history: Turn["history"];
  readonly clock: Turn["clock"];
  readonly log: Turn["log"];
  readonly #match: TurnOf;
  readonly #request: MoveRequest;
  readonly #nth: number;
  #legal: readonly unknown[] | undefined;
  #random: Random | undefined;
  #signal: AbortSignal | undefined;

  constructor(match: TurnOf, request: MoveRequest, nth: number) {
    const limitMs = request.time_limit_seconds * 1000;
    const { clock } = match;
    const deadline = new Date(clock.now() + limitMs);
    // Not computed from `deadline`, because the machine's clock may be set in the meantime.
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
   * Own properties, so that a bot may copy a turn, but getters that all turns share: V8 puts those of an object literal in old memory,
   * where they keep what they close over, the whole request, until the next full collection.
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
    // Drawn from match seed, role and tick alone, so that a player that was restarted draws the same; but what was refused is not drawn again.
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
