import type { z } from "zod";
import { type Role, winnersOf } from "#shared/games/game.ts";
import { explainIllegal, listName, readMove, wordOf } from "#shared/games/move-text.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type WaitProgress, withProgress } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Session } from "#shared/session/session.ts";
import type { SessionHost, StoredSession, Waits } from "../sessions/host.ts";
import type { Remember, Replied, Replies } from "../sessions/idempotent-replies.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import { type Next, nextFor, seatView } from "../views.ts";
import type { Play, SeatAccess } from "./play.ts";

/** A request to finish a turn. */
interface Turn {
  readonly gameId: string;
  readonly token: string | null;
  /** An action, or its text: SAN or UCI in chess. */
  readonly move: unknown;
  /** Whether the seat resigns, which it can do at any time and without a move. */
  readonly resign: boolean;
  readonly claim: Claim | null;
  readonly expectedTick: number | null;
  /** A repeated call with the same key gets the first answer again. */
  readonly idempotencyKey: string | null;
}

/** The limits of a wait, and its progress. */
interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: WaitProgress | undefined;
}

/** The result of a wait. */
interface Waited extends SeatAccess {
  readonly next: Next;
  readonly timedOut: boolean;
}

type MoveFields = Readonly<{ move?: unknown; resign?: boolean | undefined }>;

/** Checks that a request to finish a turn has a move or a resignation, and not both. */
export function hasMoveOrResigns({ value: { move, resign }, issues }: z.core.ParsePayload<MoveFields>): void {
  const fault = (path: string, message: string): void =>
    void issues.push({ code: "custom", path: [path], message, input: move });
  if (move === undefined && !resign) fault("move", "is missing: give one of the legal moves, or resign: true");
  if (move !== undefined && resign) fault("resign", "give a move or resign, not both");
}

interface Finished extends SeatAccess {
  readonly next: Next;
  /** The action as the game has parsed it; null for a resignation. */
  readonly action: unknown;
}

/** The two steps of a turn: to wait for it and to finish it. */
export interface Turns {
  /** Waits until the seat or a person is to act or the game is over. Returns immediately if that is already the case. */
  wait(gameId: string, token: string | null, options: WaitOptions): Promise<Result<Waited, Rejection>>;
  /** Acts for a seat. A rejected call has changed nothing. */
  finish(turn: Turn): Promise<Result<Finished, Rejection>>;
}

/** The maximum number of legal moves in the text of a rejection. */
const MAX_LISTED = 220;

export function createTurns(host: SessionHost, play: Play, waits: Waits, replies: Replies, clock: Clock): Turns {
  const nextOf = (session: Session, role: Role): Next => nextFor(session, role, play.seats(session.id), host.lobby);
  const latest = (stored: StoredSession): StoredSession => host.read(stored.session.id) ?? stored;

  const act = async ({ stored, role }: SeatAccess, turn: Turn, remember: Remember): Promise<Replied> => {
    const { session } = stored;
    const { game } = session;
    if (turn.resign) return resign(session, role, remember);
    const action = readMove(game, seatView(session, role).state, role, turn.move);
    const expected = expectedBy(turn, session);
    if (!expected.ok) return expected;
    const isTurn = nextOf(session, role) === "your_turn";
    const claimFault = turn.claim !== null && isTurn ? falseClaim(session, role, action, turn.claim) : null;
    if (claimFault !== null) return rejected("FALSE_CLAIM", claimFault);
    const reply = { status: 200, body: JSON.stringify({ action }) };
    const alongside = () => remember(reply);
    const acted = await host.submit(session.id, { role, action, expectedTick: expected.value, alongside });
    return acted.ok ? ok(reply) : err(explained(acted.error, session, role, turn.move, nextOf(session, role)));
  };

  const resign = async (session: Session, role: Role, remember: Remember): Promise<Replied> => {
    const waiting = host.lobby.waiting(session);
    if (waiting) return rejected("WAITING_FOR_PLAYERS", waiting.message, { game_id: session.id });
    const reply = { status: 200, body: JSON.stringify({ action: null }) };
    const fault = { role, cause: "resigned", detail: `${role} resigned` } as const;
    const ended = await host.forfeit(session.id, [fault], () => remember(reply));
    return ended.ok ? ok(reply) : err(explained(ended.error, session, role, null, nextOf(session, role)));
  };

  return {
    async wait(gameId, token, { timeoutMs, signal, progress }) {
      const seated = play.seatOf(gameId, token);
      if (!seated.ok) return seated;
      const { stored, role } = seated.value;
      const seats = play.seats(gameId);
      const isOver = (now: Session): boolean => nextFor(now, role, seats, host.lobby) !== "waiting_for_opponent";
      const waiting = waits.until(stored.session, isOver, { timeoutMs, signal });
      const isDone = await withProgress(waiting, `waiting in ${gameId}`, { timeoutMs, progress }, clock);
      const now = latest(stored);
      return ok({ stored: now, role, next: nextOf(now.session, role), timedOut: !isDone });
    },

    async finish(turn) {
      const seated = play.seatOf(turn.gameId, turn.token);
      if (!seated.ok) return seated;
      const { stored, role } = seated.value;
      if (stored.access.actedBy === "driver") return rejected("ACTED_BY_DRIVER");
      const { move, resign, claim, expectedTick, idempotencyKey: key } = turn;
      const fields = resign ? ["resign"] : [move, claim, expectedTick];
      const request = `finishTurn ${turn.gameId} ${JSON.stringify(fields)}`;
      const agentId = stored.session.participants[role] ?? "";
      const keyed = { agentId, key, keyName: "idempotency_key", request };
      const replied = await replies.once(keyed, (remember) => act(seated.value, turn, remember));
      if (!replied.ok) return replied;
      const now = latest(stored);
      const { action } = JSON.parse(replied.value.body) as { action: unknown };
      return ok({ stored: now, role, next: nextOf(now.session, role), action });
    },
  };
}

/**
 * Returns the tick that a turn expects: the given one, or that of the session that was read here. A claim is checked on that session, so a
 * claim with a later tick is rejected. An action may be in the process of being committed, and then the move would be made in another
 * position than the one in which the claim was checked.
 */
function expectedBy({ claim, expectedTick }: Turn, { id, game, tick }: Session): Result<number | null, Rejection> {
  if (claim !== null && expectedTick !== null && expectedTick > tick) {
    const message = `Expected tick ${expectedTick}, but the game is at ${tick}`;
    return rejected("CONFLICT", message, { game_id: id });
  }
  return ok(expectedTick ?? (claim === null && game.info.simultaneous ? null : tick));
}

/** Returns a rejection with a text that its player needs to continue: the end, the role that is to act, or the legal moves. */
function explained(original: Rejection, session: Session, role: Role, move: unknown, next: Next): Rejection {
  const { code, message, reason } = original;
  const explain = (text: string): Rejection => ({ ...original, message: text, context: { game_id: session.id } });
  switch (code) {
    case "SESSION_OVER":
      return explain(`The game is over: ${reason ?? ""}`);
    case "NOT_YOUR_TURN":
    case "ALREADY_ACTED": {
      const actor = next === "waiting_for_user" ? "the user" : "your opponent";
      return explain(`${message}: you are ${role}, and ${actor} has to move. Call waitForNextTurn`);
    }
    case "ILLEGAL_ACTION": {
      const legal = seatView(session, role).legalActions.map((action) => wordOf(action, session.game));
      const listed = legal.slice(0, MAX_LISTED).join(", ") + (legal.length > MAX_LISTED ? ", …" : "");
      const reasonText = explainIllegal(session.game, session.state, move) ?? message;
      const illegal = `Illegal move ${wordOf(move, session.game)?.slice(0, 100)}`;
      return explain(`${illegal}: ${reasonText}. ${listName(session.game)}: ${listed}`);
    }
    default:
      return explain(message);
  }
}

/** An assertion about the position after a move. */
type Claim = "checkmate" | "draw" | "win";

/**
 * The reason why a claim about the position after a move is false; null if it is true. Games with hidden information accept no claims,
 * because a rejection would reveal hidden information.
 */
function falseClaim({ game, state }: Session, role: Role, action: unknown, claim: Claim): string | null {
  if (game.info.simultaneous || game.info.hiddenInformation)
    return `No claims in ${game.info.name}: the server detects the end of the game`;
  const parsed = game.action.safeParse(action);
  const applied = parsed.success ? game.applyAction(state, role, parsed.data) : null;
  if (!applied?.ok) return null; // the session rejects the move with the reason
  const outcome = game.outcome(applied.value);
  const winners = outcome && winnersOf(outcome);
  const isWon = winners?.length === 1 && winners[0] === role;
  switch (claim) {
    case "draw":
      return outcome && winners === null ? null : "Accusation failed: Not a draw";
    case "checkmate":
      return isWon && outcome?.reason === "checkmate" ? null : "Accusation failed: Not checkmate";
    case "win":
      return isWon ? null : `Accusation failed: Not ${game.info.winningReason ?? "a win"}`;
  }
}
