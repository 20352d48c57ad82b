import { type CheckedEnvelope, turnOf } from "./messages.ts";
import type { Fault } from "./rules.ts";

/** Checks the requests of the referees to the players, and the answers of the players. */
interface Turns {
  /** Returns the faults of a referee's request to a player. */
  onRequest(request: CheckedEnvelope): readonly Fault[];
  /** Returns the faults of an answer of the machine `from`. */
  onAnswer(from: string, request: CheckedEnvelope, answer: CheckedEnvelope): readonly Fault[];
  /** Returns the faults of a referee's report. The actions in its log must be the moves in the answers of the players. */
  onReport(report: CheckedEnvelope): readonly Fault[];
}

/** The last turn for which a role got a MOVE_REQUEST. */
interface RequestedTurn {
  readonly tick: unknown;
  readonly gameRound: number;
  /** True if the player has answered with its id, for this match and tick. */
  isAnswered: boolean;
}

/** The valid moves of each role in each tick. A request for another move that arrives twice may get two moves, of which the referee gets one. */
type AnsweredMoves = Map<string, Map<number, ReadonlySet<string>>>;

/** `isForeign` returns whether a player has another dialect: its moves are checked elsewhere (dialects.ts). */
export function createTurns(isForeign: (playerId: string) => boolean = () => false): Turns {
  /** The move of each player in each turn. */
  const moves = new Map<string, string>();
  const playerIds = new Map<string, string>();
  const requested = new Map<string, RequestedTurn>();
  const answeredMoves: AnsweredMoves = new Map();
  /** Returns a fault if the role has not answered its previous turn. */
  const faultsOfOrder = (payload: CheckedEnvelope["payload"]): readonly Fault[] => {
    const seat = seatOf(payload);
    const previous = requested.get(seat);
    if (previous?.tick === payload.tick) return [];
    const gameRound = Number(payload.game_round);
    requested.set(seat, { tick: payload.tick, gameRound, isAnswered: false });
    if (!previous) return [];
    // In the simulated games each turn of a role is another round.
    if (gameRound <= previous.gameRound)
      return [`turns: ${seat}: round ${gameRound} of tick ${payload.tick} follows round ${previous.gameRound}`];
    return previous.isAnswered
      ? []
      : [`turns: ${seat}: tick ${payload.tick} follows ${previous.tick} without an answer`];
  };
  return {
    onRequest({ type, payload }) {
      const { your_role: role, roles } = payload as { your_role: string; roles?: Record<string, string> };
      if (type === "GAME_INVITE") playerIds.set(seatOf(payload), roles?.[role] ?? "");
      if (type !== "MOVE_REQUEST") return [];
      return faultsOfOrder(payload);
    },
    onAnswer(from, request, { type, sender, payload }) {
      if (type !== "MOVE_RESPONSE") return [];
      const seat = seatOf(request.payload);
      const turn = requested.get(seat);
      const isOfMatch = payload.match_id === request.payload.match_id;
      const isOfPlayer = sender === `player:${playerIds.get(seat)}`;
      if (turn && turn.tick === payload.tick && isOfMatch && isOfPlayer) {
        turn.isAnswered = true;
        const ofSeat = answeredMoves.get(seat) ?? new Map<number, ReadonlySet<string>>();
        const tick = Number(turn.tick);
        answeredMoves.set(seat, ofSeat.set(tick, new Set([...(ofSeat.get(tick) ?? []), JSON.stringify(payload.move)])));
      }
      const key = `${turnOf(request.payload)}/${from}`;
      if (request.payload.error) {
        moves.delete(key); // a move that was rejected may be followed by another one
        return [];
      }
      return changed(moves, key, payload.move, "a repeated request has another answer");
    },
    onReport: ({ payload }) => faultsOfLog(payload, answeredMoves, isForeign),
  };
}

/** Stores a value. Returns a fault if it differs from the previous value of the key. */
function changed(values: Map<string, string>, key: string, value: unknown, fault: string): readonly Fault[] {
  const text = JSON.stringify(value);
  const previous = values.get(key) ?? text;
  values.set(key, text);
  return previous === text ? [] : [`repeated requests: ${key}: ${fault}`];
}

/** Returns a fault if an action in the log of a report is not a move of its player. */
function faultsOfLog(
  payload: CheckedEnvelope["payload"],
  answeredMoves: AnsweredMoves,
  isForeign: (playerId: string) => boolean,
): readonly Fault[] {
  const log = (payload.log as string[]).map((entry) => JSON.parse(entry) as Entry);
  const roles = new Set(log.flatMap(({ role = [] }) => role));
  return [...roles].flatMap((role): readonly Fault[] => {
    if (isForeign(log[0]?.participants?.[role]?.split("@", 1)[0] ?? "")) return [];
    const seat = seatOf({ ...payload, your_role: role });
    const moves = [...(answeredMoves.get(seat) ?? [])].sort(([a], [b]) => a - b).map(([, move]) => move);
    const acted = log.filter((entry) => entry.type === "acted" && entry.role === role);
    const wrong = acted.findIndex(({ action }, index) => !moves[index]?.has(JSON.stringify(action)));
    return wrong < 0 ? [] : [`moves: ${seat}: action ${wrong + 1} in the log is not an answer of the player`];
  });
}

/** The fields of a log entry of a session that the check reads. */
interface Entry {
  readonly type: string;
  readonly role?: string;
  readonly action?: unknown;
  readonly participants?: Readonly<Record<string, string>>;
}

const seatOf = ({ match_id, epoch, your_role }: CheckedEnvelope["payload"]): string =>
  `${match_id}/${epoch}/${your_role}`;
