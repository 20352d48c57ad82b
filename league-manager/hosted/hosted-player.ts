import { type Game, winnersOf } from "#shared/games/game.ts";
import { legalMove } from "#shared/games/move-text.ts";
import { findGame } from "#shared/games/registry.ts";
import { shownView } from "#shared/games/view-history.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { err, invariant, ok, type Result } from "#shared/lib/result.ts";
import type { ClockState } from "#shared/lib/time-control.ts";
import type { Envelope, MessageType } from "#shared/protocol/envelope.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { GameInvite, GameResult, GameStart, MoveRequest } from "#shared/protocol/messages.ts";
import type { GameView } from "#shared/web/game-view.ts";

/** An open MOVE_REQUEST. */
interface HostedTurn {
  /** The number of the request in the inbox. */
  readonly number: number;
  readonly messageId: string;
  readonly request: MoveRequest;
  /** The monotonic time at which the time limit of the move ends. */
  readonly endsAtMs: number;
}

/** A match of a hosted player. */
export interface HostedMatch {
  readonly invite: GameInvite;
  /**
   * The last view of the match, after the player's own move if it can be computed. Before the first turn the opening view, or null if the messages
   * of the referee do not determine it.
   */
  readonly view: unknown;
  /** Whether all players have accepted the invitation. */
  readonly isStarted: boolean;
  readonly tick: number;
  readonly turn: HostedTurn | null;
  /** The last move, for a request that is repeated because its connection broke. */
  readonly moved: { readonly tick: number; readonly move: unknown } | null;
  readonly result: GameResult | null;
  /** Whether the player has received the result. */
  readonly isReported: boolean;
  /** The clocks of the last request for a move; null before it, and in a match without clocks. */
  readonly clock: ClockState | null;
  /** The monotonic time of the last request or, after it was answered, of the move. */
  readonly turnStartMs: number;
}

/** The matches of a player that the manager hosts, by `league_id/match_id`, oldest first. Never changed in place. */
export interface HostedPlayer {
  readonly matches: ReadonlyMap<string, HostedMatch>;
}

/** The answer to a message, without the envelope. */
export interface Reply {
  readonly type: MessageType;
  readonly payload: object;
}

interface Received {
  readonly player: HostedPlayer;
  /** null: the request stays open until the player moves. */
  readonly reply: Reply | null;
}

/** A message of the inbox, with its number and the time at which it was taken. */
interface InboxMessage {
  readonly number: number;
  readonly envelope: Envelope;
  readonly nowMs: number;
}

/** The number of completed matches that are remembered. */
const MAX_COMPLETED = 50;

export const newHostedPlayer = (): HostedPlayer => ({ matches: new Map() });

const ACK: Reply = { type: "ACK", payload: {} };

/**
 * Takes a message of the inbox. The manager answers invitations and notifications itself, because people and models do not answer within seconds.
 * `isPlaying` is false for a player that has left its leagues: it declines invitations and makes no moves.
 */
export function received(player: HostedPlayer, message: InboxMessage, isPlaying: boolean): Received {
  const { envelope } = message;
  switch (envelope.type) {
    case "GAME_INVITE":
      return invited(player, GameInvite.safeParse(envelope.payload).data, isPlaying);
    case "GAME_START":
      return started(player, GameStart.safeParse(envelope.payload).data);
    case "MOVE_REQUEST":
      return asked(player, message, MoveRequest.safeParse(envelope.payload).data, isPlaying);
    case "GAME_RESULT":
      return ended(player, GameResult.safeParse(envelope.payload).data);
    default:
      return { player, reply: ACK };
  }
}

function invited(player: HostedPlayer, invite: GameInvite | undefined, isPlaying: boolean): Received {
  const game = findGame(invite?.game ?? "");
  if (!invite || !game) return { player, reply: malformed("this invitation cannot be accepted") };
  const { match_id } = invite;
  if (!isPlaying) {
    const payload = { match_id, accept: false, reason: "the player has left the league" };
    return { player, reply: { type: "GAME_INVITE_RESPONSE", payload } };
  }
  const ref = refOf(invite);
  const known = player.matches.get(ref);
  const isRepeated =
    known?.invite.epoch === invite.epoch && known.invite.seed_commitment === invite.seed_commitment && !known.result;
  const view = openingView(game, invite.options, invite.your_role);
  const match: HostedMatch = isRepeated
    ? known
    : {
        invite,
        view,
        isStarted: false,
        tick: 0,
        turn: null,
        moved: null,
        result: null,
        isReported: false,
        clock: null,
        turnStartMs: 0,
      };
  const reply = { type: "GAME_INVITE_RESPONSE", payload: { match_id, accept: true } } as const;
  return { player: withMatch(player, ref, match), reply };
}

function started(player: HostedPlayer, start: GameStart | undefined): Received {
  const match = start && player.matches.get(refOf(start));
  if (!match) return { player, reply: ACK };
  return { player: withMatch(player, refOf(start), { ...match, isStarted: true }), reply: ACK };
}

function asked(
  player: HostedPlayer,
  { number, envelope, nowMs }: InboxMessage,
  request: MoveRequest | undefined,
  isPlaying: boolean,
): Received {
  if (!request) return { player, reply: malformed("this request for a move cannot be read") };
  const { match_id, tick } = request;
  if (!isPlaying) return { player, reply: HAS_LEFT };
  const ref = refOf(request);
  const match = player.matches.get(ref);
  if (!match || match.result || match.invite.epoch !== (request.epoch ?? match.invite.epoch)) {
    const error = protocolError("G003", "this player does not know the match; invite it again", { match_id }, true);
    return { player, reply: { type: "GAME_ERROR", payload: error } };
  }
  const { moved } = match;
  if (moved?.tick === tick && request.error == null) {
    return { player, reply: { type: "MOVE_RESPONSE", payload: { match_id, tick, move: moved.move } } };
  }
  const endsAtMs = nowMs + request.time_limit_seconds * 1000;
  const turn = { number, messageId: envelope.message_id, request, endsAtMs };
  return {
    player: withMatch(player, ref, {
      ...match,
      view: request.game_state,
      isStarted: true,
      tick,
      turn,
      clock: request.clock ?? null,
      turnStartMs: nowMs,
    }),
    reply: null,
  };
}

function ended(player: HostedPlayer, result: GameResult | undefined): Received {
  const ref = result ? refOf(result) : "";
  const match = player.matches.get(ref);
  if (!result || !match || (result.epoch ?? match.invite.epoch) < match.invite.epoch) return { player, reply: ACK };
  const completed = { ...match, turn: null, result, isReported: match.result !== null && match.isReported };
  return { player: withoutOldest(withMatch(player, ref, completed)), reply: ACK };
}

/** Records a move in the open turn of a match. `view` is the view after the move, or that of the turn if it is not known. */
export function withMove(player: HostedPlayer, ref: string, move: unknown, view: unknown, nowMs: number): HostedPlayer {
  const match = player.matches.get(ref);
  if (!match?.turn) return player;
  const { tick } = match.turn.request;
  return withMatch(player, ref, { ...match, turn: null, moved: { tick, move }, view, turnStartMs: nowMs });
}

/** Replaces the view of a match, by its final position. */
export function withView(player: HostedPlayer, ref: string, view: unknown): HostedPlayer {
  const match = player.matches.get(ref);
  return match ? { matches: new Map(player.matches).set(ref, { ...match, view }) } : player;
}

/** Records that the player has received all results. */
export function withResultsReported(player: HostedPlayer): HostedPlayer {
  const matches = [...player.matches].map(
    ([ref, match]) => [ref, match.result ? { ...match, isReported: true } : match] as const,
  );
  return { matches: new Map(matches) };
}

/** Returns the open turns for which `isOpen` returns true, sorted by the end of their time limits. */
export function turnsOf(player: HostedPlayer, isOpen: (number: number) => boolean): readonly OpenMatch[] {
  const open = [...player.matches].flatMap(([ref, match]) =>
    match.turn && isOpen(match.turn.number) ? [{ ref, match, turn: match.turn }] : [],
  );
  return open.sort((a, b) => a.turn.endsAtMs - b.turn.endsAtMs);
}

/** A match with its open turn. */
export interface OpenMatch {
  readonly ref: string;
  readonly match: HostedMatch;
  readonly turn: HostedTurn;
}

const refOf = ({ league_id, match_id }: { league_id: string; match_id: string }): string =>
  matchRef(league_id, match_id);

/** Replaces a match, which becomes the newest one. */
function withMatch({ matches }: HostedPlayer, ref: string, match: HostedMatch): HostedPlayer {
  const next = new Map(matches);
  next.delete(ref);
  return { matches: next.set(ref, match) };
}

function withoutOldest(player: HostedPlayer): HostedPlayer {
  const completed = [...player.matches].filter(([, { result }]) => result !== null);
  if (completed.length <= MAX_COMPLETED) return player;
  const matches = new Map(player.matches);
  matches.delete(completed[0]?.[0] ?? "");
  return { matches };
}

/** The answer to a request for a move after the player has left its leagues. */
export const HAS_LEFT: Reply = {
  type: "GAME_ERROR",
  payload: protocolError("G001", "the player has left the league"),
};

const malformed = (text: string): Reply => ({ type: "GAME_ERROR", payload: protocolError("G001", text) });

/** A legal move of a hosted player. */
interface HostedMove {
  /** The match with the turn that the move answers. */
  readonly open: OpenMatch;
  /** The move as the game has parsed it. */
  readonly action: unknown;
  /** The view after the move, or that of the turn if it is not known. */
  readonly view: unknown;
}

/** Decides a move in one of the open turns: of the match that `matchId` names, or of the first one if it is null. */
export function decideMove(
  turns: readonly OpenMatch[],
  matchId: string | null,
  move: unknown,
): Result<HostedMove, ProtocolError> {
  const chosen = openTurn(turns, matchId);
  if (!chosen.ok) return chosen;
  const open = chosen.value;
  const { invite, view } = open.match;
  const game = findGame(invite.game);
  if (!game) throw new Error(`${open.ref} is a match of the unknown game ${invite.game}`);
  const role = invite.your_role;
  const legal = legalMove(game, { view, role, legal: game.legalActions(view, role) }, move);
  if (!legal.ok) return err(protocolError("G001", legal.error, {}, true));
  return ok({ open, action: legal.value, view: viewAfter(game, view, role, legal.value) });
}

/** Finds the turn that a player means. `matchId` has the id of the league or omits it. */
function openTurn(turns: readonly OpenMatch[], matchId: string | null): Result<OpenMatch, ProtocolError> {
  const matching = turns.filter(({ ref }) => matchId === null || ref === matchId || ref.endsWith(`/${matchId}`));
  const [open] = matching;
  if (!open) {
    const named = turns.map(({ ref }) => ref).join(", ");
    const text = named === "" ? "It is not your turn" : `It is not your turn in ${matchId}, but in: ${named}`;
    return err(protocolError("G004", `${text}. Call wait_for_turn`, {}, true));
  }
  if (matchId !== null && matching.length > 1) {
    const named = matching.map(({ ref }) => ref).join(", ");
    return err(protocolError("G004", `match_id is ambiguous; give one of: ${named}`, {}, true));
  }
  return ok(open);
}

/** Returns a match as its hosted player sees it, for boards and texts. `nameOf` returns the name of a player, `nowMs` is the monotonic time. */
export function matchView(
  ref: string,
  { invite, view, isStarted, tick, turn, moved, result, clock, turnStartMs }: HostedMatch,
  nameOf: (playerId: string) => string,
  nowMs: number,
): GameView {
  const game = findGame(invite.game);
  invariant(game, `${ref} is a match of a known game`);
  const { your_role: role } = invite;
  const player = (id: string) => ({ kind: "agent", name: nameOf(id), joined: true }) as const;
  const others = game.roles.filter((other) => other !== role);
  return {
    // Another attempt at the match is another game, whose ticks begin at 0 again.
    game_id: invite.epoch === 1 ? ref : `${ref}#${invite.epoch}`,
    template: game.id,
    name: game.info.name,
    status: result ? "completed" : isStarted ? "active" : "waiting_for_players",
    tick: result ? tick + 1 : tick,
    your_role: role,
    roles: game.roles,
    ...(invite.epoch > 1 && { restart: { attempt: invite.epoch, reason: invite.restart_reason ?? null } }),
    players: Object.fromEntries(game.roles.map((name) => [name, player(invite.roles[name] ?? name)])),
    to_act: result ? [] : turn ? [role] : others,
    state: shownView(game.info, view),
    legal_actions: turn ? game.legalActions(view, role) : [],
    board: view === null ? "" : game.toText(view, role),
    // The moves of the opponents are in the view only, in the form of each game.
    last_action: moved && !turn && !result ? { role, action: moved.move, tick: moved.tick } : null,
    result: result && resultIn(invite.roles, result),
    ...(clock && { clock: { ...clock, elapsed_ms: Math.round(nowMs - turnStartMs) } }),
  };
}

function resultIn(roles: Readonly<Record<string, string>>, result: GameResult): GameView["result"] {
  const points = Object.fromEntries(
    Object.entries(roles).map(([role, playerId]) => [role, result.match_points[playerId] ?? 0]),
  );
  const winners = winnersOf({ scores: points }) ?? [];
  const { termination, reason } = result;
  return { winners, winner: winners.length === 1 ? (winners[0] ?? null) : null, reason, termination };
}

/**
 * Returns the view after an own move. Only the rules of a game without hidden information and with one actor a turn can be applied to a view; in
 * other games the view of the turn remains.
 */
export function viewAfter(game: Game, view: unknown, role: string, action: unknown): unknown {
  if (game.info.hiddenInformation || game.info.simultaneous) return view;
  try {
    const next = game.applyAction(view, role, action);
    return next.ok ? game.viewState(next.value, role) : view;
  } catch {
    return view; // the view of this game is not a state
  }
}

/**
 * Returns the view of a role at the start of a match. An invitation contains the options but not the seed, so the opening is known only in games whose
 * initial state does not use the seed; otherwise null.
 */
function openingView(game: Game, options: unknown, role: string): unknown {
  const parsed = game.options.safeParse(options);
  if (!parsed.success) return null;
  let usesSeed = false;
  const setup = {
    options: parsed.data,
    get seed() {
      usesSeed = true;
      return "";
    },
  };
  const state = game.initialState(setup);
  return usesSeed ? null : game.viewState(state, role);
}
