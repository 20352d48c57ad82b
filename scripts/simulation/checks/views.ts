import type { BotSeat } from "../machines/observer.ts";
import type { CheckedEnvelope } from "./envelopes.ts";
import type { Fault } from "./rules.ts";

/** Checks the views in the requests for moves, and those that the bots receive. */
interface Views {
  /** Returns the faults of a request of a referee to the process of a player. */
  onRequest(to: string, request: CheckedEnvelope): readonly Fault[];
  /** Returns a fault if the bot of a process receives another view than the complete one of its last request for the turn. */
  onView(machine: string, seat: BotSeat, view: string): readonly Fault[];
}

type Json = Readonly<Record<string, unknown>>;

/** What the requests to one seat have shown. */
interface Shown {
  tick: number;
  view: unknown;
  /** The complete view of each turn, as JSON. */
  readonly views: Map<number, string>;
  /** The last invitation. After a further one the referee assumes no view to be known. */
  invitation: unknown;
}

/**
 * Completes the views with its own computation, and keeps only copies that it has parsed itself: code that it shared with the program would make the
 * same mistakes.
 */
export function createViews(): Views {
  const seats = new Map<string, Shown>();
  const shownTo = (seat: string): Shown => {
    const shown = seats.get(seat) ?? { tick: -1, view: undefined, views: new Map(), invitation: undefined };
    seats.set(seat, shown);
    return shown;
  };
  return {
    onRequest(to, { type, message_id, payload }) {
      const seat = `${to} ${payload.match_id}/${payload.epoch}/${payload.your_role}`;
      const shown = shownTo(seat);
      if (type === "GAME_INVITE" && shown.invitation !== message_id)
        Object.assign(shown, { tick: -1, view: undefined, invitation: message_id });
      if (type !== "MOVE_REQUEST") return [];
      const { game_state, omitted_history: omitted } = payload as unknown as Request;
      const tick = Number(payload.tick);
      const view = omitted ? completed(game_state, omitted.list, omitted.from, shown.view) : game_state;
      if (view === null)
        return [
          `views: ${seat}: the request at tick ${tick} leaves out what no earlier one since the invitation has shown`,
        ];
      const [text, before] = [JSON.stringify(view), shown.views.get(tick)];
      shown.views.set(tick, text);
      if (tick >= shown.tick) Object.assign(shown, { tick, view });
      return before === undefined || before === text
        ? []
        : [`views: ${seat}: the state changed while the turn of tick ${tick} was open`];
    },
    onView(machine, { matchId, epoch, role, tick }, view) {
      const seat = `${machine} ${matchId}/${epoch}/${role}`;
      const expected = seats.get(seat)?.views.get(tick);
      return expected === view
        ? []
        : [`views: ${seat}: the bot receives ${view} at tick ${tick}, not the complete view ${expected}`];
    },
  };
}

interface Request {
  readonly game_state: unknown;
  readonly omitted_history?: { readonly list: readonly string[]; readonly from: number };
}

/** Returns a view whose list at a path begins with the first elements of the same list in an earlier view; null if they are missing. */
function completed(view: unknown, path: readonly string[], from: number, earlier: unknown): unknown {
  const [field, ...rest] = path;
  if (field !== undefined) {
    const inner = completed((view as Json | null)?.[field], rest, from, (earlier as Json | null | undefined)?.[field]);
    return inner === null ? null : { ...(view as Json), [field]: inner };
  }
  const isKnown = Array.isArray(view) && Array.isArray(earlier) && earlier.length >= from;
  return isKnown ? earlier.slice(0, from).concat(view) : null;
}
