import type { Clock } from "#shared/lib/clock.ts";
import { err, messageOf, ok } from "#shared/lib/result.ts";
import { jsonOf } from "#shared/lib/text.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { createArrival } from "#shared/rpc/peer/arrival.ts";
import type { Player } from "../../../player/matches/player.ts";
import type { Asker } from "../../../referee/match/ask.ts";
import type { AskFault } from "../../../referee/match/ask-fault.ts";

/** The player of a local match. */
export interface LocalPlayer {
  readonly player: Pick<Player, "invite" | "move" | "finish">;
  /** Whether the code of the bot may change a view that it receives, because it runs in this thread and is not part of this project. */
  readonly needsCopies: boolean;
}

type MoveReply = Awaited<ReturnType<Asker["requestMove"]>>;

const copyOf = (view: unknown): unknown => JSON.parse(JSON.stringify(view));

/** The result of a call that has not returned within its time limit. */
const LATE = Symbol("late");

/**
 * Creates an asker for bots in this process. Time limits, answers and faults are those of players over the network; only the envelopes are missing.
 * `playerAt` returns the player at an endpoint.
 */
export function createLocalAsker(playerAt: (endpoint: string) => LocalPlayer, clock: Clock): Asker {
  const within = timeLimit(clock);
  const arrival = createArrival(clock);
  return {
    async invite({ endpoint, matchToken }, invitation, limitMs) {
      const { player } = playerAt(endpoint);
      const answer = await within(limitMs, player.invite(invitation as GameInvite, matchToken));
      if (answer === LATE) return err(unanswered(limitMs));
      if (answer === "wrong_role") throw new Error(`${endpoint} has another role in this match`);
      if (answer.accept) return ok(null);
      return err({ code: "G001", cause: "declined", detail: `declined: ${answer.reason}`, raw: jsonOf(answer) });
    },
    async requestMove({ endpoint, matchToken }, turn, limitMs) {
      const { player, needsCopies } = playerAt(endpoint);
      const request = turn as MoveRequest;
      const asked = needsCopies ? { ...request, game_state: copyOf(request.game_state) } : request;
      const askedAt = clock.monotonic();
      const moving = player.move(asked, matchToken);
      // A bot in this thread has computed its answer now, unless it waits for something.
      const computedAt = clock.monotonic();
      const computedMs = computedAt - askedAt;
      if (computedMs >= limitMs) {
        moving.catch(() => {});
        return { kind: "unanswered", fault: unanswered(limitMs), lateMs: 0 };
      }
      const answer = await within(limitMs - computedMs, moving);
      if (answer === LATE) return { kind: "unanswered", fault: unanswered(limitMs), lateMs: 0 };
      return { ...replyOf(answer, request), lateMs: clock.monotonic() - Math.max(computedAt, arrival.earliest()) };
    },
    lastRoundTripMs: () => null,
    inOrder: () => null,
    async notify({ endpoint, matchToken }, type, payload) {
      if (type === "GAME_RESULT") await playerAt(endpoint).player.finish(payload as GameResult, matchToken);
    },
  };
}

function replyOf(
  answer: Exclude<Awaited<ReturnType<Player["move"]>>, symbol>,
  { match_id, tick }: MoveRequest,
): Omit<MoveReply, "lateMs"> & MoveReply {
  if (typeof answer === "string") throw new Error(`a local player answers ${answer}`);
  if ("failed" in answer) return faulty(answer.failed, match_id, tick);
  const move = plain(answer.move);
  return move.ok
    ? { kind: "move", move: move.value, raw: () => jsonOf({ match_id, tick, move: move.value }), lateMs: 0 }
    : faulty(move.error, match_id, tick);
}

/** The reply of a player whose bot has chosen no action. */
function faulty(reason: string, match_id: string, tick: number): MoveReply {
  const raw = jsonOf({ type: "GAME_ERROR", payload: { match_id, tick, message: reason } });
  return { kind: "faulty", fault: { code: "G001", cause: "bot_error", detail: reason.slice(0, 200), raw }, lateMs: 0 };
}

/** Returns an action as it would arrive over the network. */
function plain(move: unknown) {
  if (typeof move === "string" || typeof move === "boolean" || Number.isFinite(move)) return ok(move);
  try {
    return ok(JSON.parse(JSON.stringify(move) ?? "null") as unknown);
  } catch (thrown) {
    return err(messageOf(thrown));
  }
}

const unanswered = (limitMs: number): AskFault => ({
  code: "G002",
  cause: "timeout",
  detail: `no answer within ${Math.round(limitMs)} ms`,
});

/**
 * Returns a function that limits the time of a call. Most calls of bots in this thread are settled in the same turn of the event loop, so a timer is
 * set only for calls that are open at its end.
 */
function timeLimit(clock: Clock): <T>(ms: number, call: Promise<T>) => Promise<T | typeof LATE> {
  const fresh = new Set<() => void>();
  const setTimers = (): void => {
    for (const setTimer of fresh) setTimer();
    fresh.clear();
  };
  return <T>(ms: number, call: Promise<T>) =>
    new Promise<T | typeof LATE>((resolve, reject) => {
      const startedAt = clock.monotonic();
      let cancel = (): void => {};
      const setTimer = (): void => {
        // An answer that has arrived while this thread was busy is read before the time is over.
        cancel = clock.after(Math.max(0, ms - (clock.monotonic() - startedAt)), () => clock.defer(() => resolve(LATE)));
      };
      const settle = (): void => {
        fresh.delete(setTimer);
        cancel();
      };
      if (fresh.size === 0) clock.defer(setTimers);
      fresh.add(setTimer);
      call.then(
        (value) => {
          settle();
          resolve(value);
        },
        (thrown) => {
          settle();
          reject(thrown);
        },
      );
    });
}
