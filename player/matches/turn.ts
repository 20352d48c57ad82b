import type { Game } from "#shared/games/game.ts";
import type { GameId } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { asText, cutTo, inOneLine } from "#shared/lib/text.ts";
import type { GameInvite, MoveRequest } from "#shared/protocol/messages.ts";
import { logLine } from "../bot-process/bot-object.ts";
import type { MatchClocks, Turn } from "../sdk.ts";

/** The values that all turns of a match share. */
export interface TurnContext {
  /** Undefined if this process does not know the game. Each request then lists the legal actions. */
  readonly game: Game | undefined;
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

/** Returns the seed of the random numbers of a turn that `turnOf` has made. */
export const seedOf = (turn: Turn): string => PlayedTurn.seedOf(turn as unknown as PlayedTurn);

/** The longest reason of a rejection that a bot receives, in characters. */
const MAX_REASON = 500;

/** Returns the message of the error in a repeated request, which is a text of the referee; null if there is none. */
function rejectionIn(error: unknown): string | null {
  if (error === undefined || error === null) return null;
  const { message } = error as { readonly message?: unknown };
  return cutTo(MAX_REASON, inOneLine(asText(message ?? "the answer was rejected")));
}

/** Lists the legal actions of a view. Throws if this process does not know the game. */
function legalIn(game: Game | undefined, invite: GameInvite, view: unknown): readonly unknown[] {
  if (!game) throw new Error(`${invite.game} is unknown to this player, and the request has no legal_actions`);
  return [...game.legalActions(view, invite.your_role)];
}

function clocksIn({ clock }: MoveRequest): MatchClocks | null {
  if (clock == null) return null;
  return { initialMs: clock.initial_ms, incrementMs: clock.increment_ms, remainingMs: clock.remaining_ms };
}

class PlayedTurn {
  readonly game: GameId;
  readonly role: string;
  readonly view: unknown;
  readonly tick: number;
  readonly history: Turn["history"];
  readonly rejection: string | null;
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
    this.rejection = rejectionIn(request.error);
    this.clock = { deadline, remainingMs: () => endsAt - clock.monotonic(), match: clocksIn(request) };
    this.log = (...values) => match.log(logLine(values));
    this.#match = match;
    this.#request = request;
    this.#nth = nth;
    Object.defineProperties(this, PlayedTurn.#lazy);
  }

  /** The seed depends only on match seed, role, tick and try, so that a restarted player draws the same numbers, and another try others. */
  static seedOf(turn: PlayedTurn): string {
    const again = turn.#nth === 1 ? "" : `/${turn.#nth}`;
    return `${turn.#match.invite.bot_seed}/${turn.tick}${again}`;
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
        this.#legal ??= this.#request.legal_actions ?? legalIn(game, invite, this.#request.game_state);
        return this.#legal;
      },
    },
    random: {
      enumerable: true,
      get() {
        this.#random ??= createRandom(PlayedTurn.seedOf(this));
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
