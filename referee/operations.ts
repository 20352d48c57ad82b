import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Role } from "#shared/games/game.ts";
import { readMove, whyUnread } from "#shared/games/read-move.ts";
import { findGame } from "#shared/games/registry.ts";
import { isSessionId, matchRef } from "#shared/lib/ids.ts";
import { messageOf, ok, type Result } from "#shared/lib/result.ts";
import * as messages from "#shared/protocol/messages.ts";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Session } from "#shared/session/session.ts";
import type { Play } from "./play/play.ts";
import type { Referee } from "./referee.ts";
import type { SessionHost } from "./sessions/host.ts";
import { protocolRejected, protocolResult, type Rejection, rejected } from "./sessions/rejections.ts";
import { matchOf, orderOf, StartGame, StartGameByPlayers } from "./start-game.ts";
import { playerOf } from "./tables.ts";
import { matchState } from "./views/match-state.ts";
import { driverView, spectatorView } from "./views/session-views.ts";

export interface RefereeDesk {
  readonly host: SessionHost;
  readonly referee: Referee;
  readonly identity: { readonly token: string | null };
  readonly maxConcurrentMatches: number;
  /** Games that are no matches of a league; they may be asked for and watched by their session's id. */
  readonly play: Play;
}

const id = z.string().min(1).max(200);
const ValidateMove = z.object({
  player_id: id.describe("player of a league match, or the role in a game made with createGame, e.g. white"),
  move: z.unknown().describe("the move as in finishTurn or make_move"),
  match_id: id.optional().describe("match_id of a league match, or game_id of a game made with createGame"),
});
export const GetGameState = z.object({
  match_id: id.describe("match_id of a league match, or game_id from createGame"),
});
export const GameState = z.object({
  match_id: z.string(),
  session_id: z.string(),
  game: z.string(),
  status: z.enum(["waiting_for_players", "active", "completed"]),
  tick: z.int(),
  state: z.unknown().describe("the game's state as the caller may see it"),
  your_role: z.string().optional(),
  legal_actions: z.array(z.unknown()).optional(),
  termination: z.string().nullable(),
  reason: z.string().nullable(),
});

/** What a referee can be asked (PROTOCOL.md, section 4). */
export function refereeOperations(desk: RefereeDesk): readonly Operation<unknown>[] {
  return [
    operation({
      request: "START_GAME",
      reply: "START_GAME_RESPONSE",
      payload: messages.StartGame as z.ZodType<StartGame>,
      tool: {
        name: "start_game",
        title: "Start a match",
        description:
          "Starts a match between two players. Only the league manager can call it: auth_token is its signature for this match. Repeating a call with the same league_id, match_id and epoch starts nothing new and returns the same session.",
        plain: StartGame,
        input: StartGameByPlayers,
        result: z.object({ status: z.literal("ACCEPTED"), match_id: z.string(), session_id: z.string() }),
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
      },
      async handle(asked, caller) {
        const running = desk.referee.running();
        const ref = matchOf(asked, running);
        if (!isManager(desk, caller.authToken ?? "", ref)) {
          const message = "start_game is taken from this referee's league manager only";
          return protocolRejected("NOT_PERMITTED", message, { match: ref });
        }
        const completed = orderOf(asked, running, desk.identity.token ?? "");
        if (!completed.ok) return protocolResult(completed);
        const order = completed.value;
        const fault = faultOfOrder(order, ref);
        if (fault) return protocolResult(fault);
        // Nothing is awaited before the start: it takes the place at once, so orders that arrive together do not exceed the limit.
        const places = desk.referee.places();
        if (places.size >= desk.maxConcurrentMatches && !places.has(ref)) {
          const message = "this referee has as many matches as it takes at a time";
          return protocolRejected("TOO_MANY_MATCHES", message, { match: ref });
        }
        const started = await desk.referee.start(order);
        return started.ok ? ok({ status: "ACCEPTED", ...started.value }) : started;
      },
    }),
    operation({
      request: "MATCH_WITHDRAWN",
      reply: "ACK",
      payload: messages.MatchWithdrawn,
      handle({ league_id, match_id, epoch }, caller) {
        if (!isManager(desk, caller.authToken ?? "", matchRef(league_id, match_id))) {
          return protocolRejected("NOT_PERMITTED", "a match is withdrawn by this referee's league manager only");
        }
        desk.referee.withdraw(league_id, match_id, epoch);
        return ok({});
      },
    }),
    operation({
      request: "VALIDATE_MOVE",
      reply: "VALIDATE_MOVE_RESPONSE",
      payload: ValidateMove,
      tool: {
        name: "validate_move",
        title: "Would this move be legal?",
        description:
          "Checks whether a move would be legal now, without making it. Returns valid, and a reason if the move is not legal.",
        plain: ValidateMove,
        result: z.object({
          valid: z.boolean(),
          reason: z.string().nullable().describe("why not"),
          player_id: z.string(),
          role: z.string(),
          move: z.unknown(),
        }),
        annotations: { readOnlyHint: true },
      },
      handle({ player_id, move, match_id }, caller) {
        const game =
          match_id !== undefined && isSessionId(match_id) ? desk.play.look(match_id, caller.authToken) : null;
        const found = game ? seatIn(game.kept.session, player_id) : sessionWith(desk, player_id, match_id);
        if (!found.ok) return protocolResult(found);
        const { session, role } = found.value;
        if (session.status === "completed") {
          const message = `the match is over: ${session.reason}`;
          return protocolRejected("SESSION_OVER", message, { match_id: match_id ?? null });
        }
        const reason = desk.host.lobby.waiting(session)?.message ?? whyIllegal(session, role, move);
        return ok({ valid: reason === null, reason, player_id, role, move });
      },
    }),
    operation({
      request: "GET_GAME_STATE",
      reply: "GET_GAME_STATE_RESPONSE",
      payload: GetGameState,
      tool: {
        name: "get_game_state",
        title: "State of a match",
        description:
          "Returns the state of a game or match as a spectator may see it. Hidden information is shown only to the holder of a seat: pass its seat_token or match token in auth_token or as bearer token.",
        plain: GetGameState,
        result: GameState,
        annotations: { readOnlyHint: true },
      },
      async handle({ match_id }, caller) {
        const game = isSessionId(match_id) ? desk.play.look(match_id, caller.authToken) : null;
        if (game) return ok({ match_id, ...matchState(game.kept.session, game.viewer, desk.host.lobby) });
        const found = desk.referee.sessionOf(match_id);
        if (!found.ok) return found;
        const match = desk.play.look(found.value, caller.authToken);
        if (!match) return protocolRejected("UNKNOWN_SESSION", `no match ${match_id} here`, { match_id });
        return ok({ match_id, ...matchState(match.kept.session, match.viewer, desk.host.lobby) });
      },
    }),
  ];
}

/** Why an order cannot be played; null if it can. */
function faultOfOrder(order: messages.StartGame, ref: string): ReturnType<typeof rejected> | null {
  const invalid = (message: string) => rejected("INVALID_ORDER", message, { match: ref });
  const game = findGame(order.game);
  if (!game) return rejected("UNKNOWN_GAME", `unknown game ${order.game}`, { match: ref });
  const roles = Object.keys(order.roles);
  if (roles.length !== game.roles.length || !game.roles.every((role) => roles.includes(role))) {
    return invalid(`${order.game} is played by ${game.roles.join(" and ")}`);
  }
  if (new Set(Object.values(order.roles).map((player) => player.match_token)).size < roles.length) {
    return invalid("each player needs a match token of its own");
  }
  const options = game.options.safeParse(order.options ?? {});
  return options.success ? null : invalid(`options: ${messageOf(options.error)}`);
}

type SessionSeat = Result<{ session: Session; role: Role }, Rejection>;

/** The seat of a game that has this role or is held by this agent. */
function seatIn(session: Session, playerId: string): SessionSeat {
  const role = Object.entries(session.participants).find((seat) => seat.includes(playerId))?.[0];
  if (role !== undefined) return ok({ session, role });
  return rejected("UNKNOWN_PLAYER", `player_id: this game has the roles ${session.game.roles.join(" and ")}`);
}

function sessionWith(desk: RefereeDesk, playerId: string, matchId: string | undefined): SessionSeat {
  const playing = desk.referee.running().flatMap(({ ref, order, sessionId }) => {
    const role = Object.entries(order.roles).find(([, player]) => player.player_id === playerId)?.[0];
    const isMeant = matchId === undefined || matchId === ref || matchId === order.match_id;
    return role !== undefined && isMeant ? [{ ref, role, sessionId }] : [];
  });
  const [only, another] = playing;
  if (!only) {
    const finished = matchId === undefined ? null : finishedWith(desk, playerId, matchId);
    if (finished) return ok(finished);
    const how = "for a game made with createGame give match_id (its game_id) and player_id (the role)";
    return rejected("UNKNOWN_SESSION", `${playerId} plays no such match here now; ${how}`, { player_id: playerId });
  }
  if (another) {
    const choices = playing.map((one) => one.ref);
    return rejected("AMBIGUOUS_MATCH", `${playerId} plays several matches; name one of them`, { choices });
  }
  const session = desk.host.read(only.sessionId)?.session;
  if (!session) return rejected("UNKNOWN_SESSION", "the match has just ended", { player_id: playerId });
  return ok({ session, role: only.role });
}

/** The session and role of a player in a match that is over; null if there is no such match. */
function finishedWith({ referee, host }: RefereeDesk, playerId: string, matchId: string) {
  const sessionId = referee.sessionOf(matchId);
  const session = sessionId.ok ? host.read(sessionId.value)?.session : undefined;
  const seat = Object.entries(session?.participants ?? {}).find(([, agentId]) => playerOf(agentId) === playerId);
  return session?.status === "completed" && seat ? { session, role: seat[0] } : null;
}

/** Null when the move would be taken. In a simultaneous turn the answer is the same whether the role has chosen or not. */
function whyIllegal(session: Session, role: Role, move: unknown): string | null {
  const { game, state } = session;
  const action = game.action.safeParse(readMove(game, spectatorView(session).state, role, move));
  if (!action.success) return action.error.issues[0]?.message ?? "not an action of this game";
  if (game.isDriversOwn?.(action.data)) return "not an action of a player";
  if (game.info.simultaneous) {
    const legal = game.legalActions(spectatorView(session).state, role);
    const isLegal = legal.some((one) => isDeepStrictEqual(one, action.data));
    return isLegal ? null : `choose one of ${legal.map((one) => JSON.stringify(one)).join(", ")}`;
  }
  if (!driverView(session).toAct.includes(role)) return "Not your turn";
  const applied = game.applyAction(state, role, action.data);
  return applied.ok ? null : (whyUnread(game, state, move) ?? applied.error.message);
}

/** Whether a message is signed by this referee's league manager (PROTOCOL.md, section 3). */
export function isManager({ identity }: RefereeDesk, signature: string, subject: string | null): boolean {
  return identity.token !== null && subject !== null && isSignedFor(identity.token, subject, signature);
}

/** Tools and messages that create a game. */
export const GAME_CREATIONS: ReadonlySet<string> = new Set([
  "createGame",
  "CREATE_GAME",
  "create_new_game",
  "CREATE_NEW_GAME",
]);

/** Notifications of the manager that a referee acknowledges and does not act on. */
export const newsOperations = () => [
  operation({ request: "ROUND_ANNOUNCEMENT", reply: "ACK", payload: messages.RoundAnnouncement, handle: () => ok({}) }),
  operation({ request: "ROUND_START", reply: "ACK", payload: messages.RoundStart, handle: () => ok({}) }),
  operation({ request: "ROUND_END", reply: "ACK", payload: messages.RoundEnd, handle: () => ok({}) }),
  operation({
    request: "LEAGUE_STANDINGS_UPDATE",
    reply: "ACK",
    payload: messages.StandingsUpdate,
    handle: () => ok({}),
  }),
];
