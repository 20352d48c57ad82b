import { type Seen, turnOf } from "./envelopes.ts";

/** Checks what the referees ask the players, and what these answer. */
export interface Turns {
  /** The faults of a referee's request to a player. */
  onRequest(request: Seen): readonly string[];
  /** The faults of an answer of the machine `from`. */
  onAnswer(from: string, request: Seen, answer: Seen): readonly string[];
  /** The faults of a referee's report: the actions in its log must be the moves that the players have answered. */
  onReport(report: Seen): readonly string[];
}

/** The last turn in which a role was asked. */
interface Asked {
  readonly tick: unknown;
  /** Whether the player has answered it: in its own name, for this match and tick. */
  isAnswered: boolean;
}

export function createTurns(): Turns {
  /** The state that each role was shown in each turn. */
  const shown = new Map<string, string>();
  /** The move of each player in each turn. */
  const moves = new Map<string, string>();
  const playerIds = new Map<string, string>();
  const asked = new Map<string, Asked>();
  /** The last valid answer of each role in each tick that it was asked. */
  const answered = new Map<string, Map<number, string>>();
  /** The fault of a value that differs from the one before under the same key. */
  const changed = (values: Map<string, string>, key: string, value: unknown, fault: string): readonly string[] => {
    const text = JSON.stringify(value);
    const before = values.get(key) ?? text;
    values.set(key, text);
    return before === text ? [] : [`${key}: ${fault}`];
  };
  /** The fault of a request if the role has not answered the turn before. */
  const faultsOfOrder = (payload: Seen["payload"]): readonly string[] => {
    const seat = seatOf(payload);
    const before = asked.get(seat);
    if (before?.tick === payload.tick) return [];
    asked.set(seat, { tick: payload.tick, isAnswered: false });
    return before?.isAnswered === false
      ? [`${seat}: tick ${payload.tick} follows ${before.tick} without an answer`]
      : [];
  };
  return {
    onRequest({ type, payload }) {
      const { your_role: role, roles } = payload as { your_role: string; roles?: Record<string, string> };
      if (type === "GAME_INVITE") playerIds.set(seatOf(payload), roles?.[role] ?? "");
      if (type !== "MOVE_REQUEST") return [];
      const fault = "the state changed while the turn was open";
      return [...changed(shown, `${turnOf(payload)}/${role}`, payload.game_state, fault), ...faultsOfOrder(payload)];
    },
    onAnswer(from, request, { type, sender, payload }) {
      if (type !== "MOVE_RESPONSE") return [];
      const seat = seatOf(request.payload);
      const turn = asked.get(seat);
      const isOfMatch = payload.match_id === request.payload.match_id;
      const isOfPlayer = sender === `player:${playerIds.get(seat)}`;
      if (turn && turn.tick === payload.tick && isOfMatch && isOfPlayer) {
        turn.isAnswered = true;
        answered.set(seat, (answered.get(seat) ?? new Map()).set(Number(turn.tick), JSON.stringify(payload.move)));
      }
      const key = `${turnOf(request.payload)}/${from}`;
      if (request.payload.error) {
        moves.delete(key); // a move that was rejected may be followed by another one
        return [];
      }
      return changed(moves, key, payload.move, "a repeated request has another answer");
    },
    onReport({ payload }) {
      const log = (payload.log as string[]).map((entry) => JSON.parse(entry) as Entry);
      const roles = new Set(log.flatMap(({ role = [] }) => role));
      return [...roles].flatMap((role) => {
        const seat = seatOf({ ...payload, your_role: role });
        const moves = [...(answered.get(seat) ?? [])].sort(([a], [b]) => a - b).map(([, move]) => move);
        const acted = log.filter((entry) => entry.type === "acted" && entry.role === role);
        const wrong = acted.findIndex(({ action }, index) => JSON.stringify(action) !== moves[index]);
        return wrong < 0 ? [] : [`${seat}: action ${wrong + 1} in the log is not what the player has answered`];
      });
    },
  };
}

/** What is read of an entry of a session's log. */
interface Entry {
  readonly type: string;
  readonly role?: string;
  readonly action?: unknown;
}

const seatOf = ({ match_id, epoch, your_role }: Seen["payload"]): string => `${match_id}/${epoch}/${your_role}`;
