import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Role } from "#shared/games/game.ts";
import { explainIllegal, readMove } from "#shared/games/move-text.ts";
import { findGame } from "#shared/games/registry.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import { isSessionId, matchRef } from "#shared/lib/ids.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { ClockState } from "#shared/lib/time-control.ts";
import { id, Timeouts, WrittenMove } from "#shared/protocol/message-fields.ts";
import * as announcements from "#shared/protocol/messages.ts";
import * as messages from "#shared/protocol/messages.ts";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { INVALID_PARAMS, rpcError } from "#shared/rpc/jsonrpc/json-rpc.ts";
import type { ResourceTemplate } from "#shared/rpc/mcp/methods.ts";
import { type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Session } from "#shared/session/session.ts";
import type { Referee } from "./match/referee.ts";
import type { Play } from "./play/play.ts";
import { playerOf } from "./sessions/agent-tokens.ts";
import type { SessionHost } from "./sessions/host.ts";
import {
  GameNotLoaded,
  protocolErrorOf,
  protocolRejected,
  protocolResult,
  type Rejection,
  rejected,
} from "./sessions/rejections.ts";
import { driverView, matchState, spectatorView } from "./views.ts";

/** The operations of a referee for its league manager and for players (PROTOCOL.md, section 4). */
export const refereeOperations = (context: RefereeContext): readonly Operation<unknown>[] => [
  startGame(context),
  matchWithdrawn(context),
  validateMove(context),
  getGameState(context),
];

/** Tools and messages that create a game. */
export const GAME_CREATIONS: ReadonlySet<string> = new Set([
  "createGame",
  "CREATE_GAME",
  "create_new_game",
  "CREATE_NEW_GAME",
]);

/** Notifications of the manager that a referee acknowledges and does not act on. */
export const notificationOperations = (context: RefereeContext) => [
  operation({
    request: "ROUND_ANNOUNCEMENT",
    reply: "ACK",
    payload: announcements.RoundAnnouncement,
    /** Rejects a wrong signature, so that the manager finds out whether the referee that it means is at this endpoint. */
    handle: ({ league_id }, caller) =>
      isManager(context, caller.authToken ?? "", league_id)
        ? ok({})
        : protocolRejected("NOT_PERMITTED", "this announcement is not signed for this referee"),
  }),
  operation({ request: "ROUND_START", reply: "ACK", payload: announcements.RoundStart, handle: () => ok({}) }),
  operation({ request: "ROUND_END", reply: "ACK", payload: announcements.RoundEnd, handle: () => ok({}) }),
  operation({
    request: "LEAGUE_STANDINGS_UPDATE",
    reply: "ACK",
    payload: announcements.StandingsUpdate,
    handle: () => ok({}),
  }),
];

/** The parts of a referee that its operations use. */
export interface RefereeContext {
  readonly host: SessionHost;
  readonly referee: Referee;
  readonly identity: { readonly token: string | null };
  readonly maxConcurrentMatches: number;
  /** The games outside of leagues, which are named by the ids of their sessions. */
  readonly play: Play;
}

/** Whether a message is signed by this referee's league manager (PROTOCOL.md, section 3). */
export function isManager({ identity }: RefereeContext, signature: string, subject: string | null): boolean {
  return identity.token !== null && subject !== null && isSignedFor(identity.token, subject, signature);
}

/** START_GAME: starts a match for the league manager. */
const startGame = (context: RefereeContext): Operation<unknown> =>
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
    async handle(input, caller) {
      const running = context.referee.running();
      const ref = matchOf(input, running);
      if (!isManager(context, caller.authToken ?? "", ref)) {
        const message = "start_game is accepted only from this referee's league manager";
        return protocolRejected("NOT_PERMITTED", message, { match: ref });
      }
      const completed = orderOf(input, running, context.identity.token ?? "");
      if (!completed.ok) return protocolResult(completed);
      const order = completed.value;
      const fault = faultOfOrder(order, ref);
      if (fault) return protocolResult(fault);
      // Nothing is awaited between this check and the start, so orders that arrive together do not exceed the limit.
      const active = context.referee.activeMatches();
      if (active.size >= context.maxConcurrentMatches && !active.has(ref)) {
        const message = "this referee already plays its maximum number of matches";
        return protocolRejected("TOO_MANY_MATCHES", message, { match: ref });
      }
      const started = await context.referee.start(order);
      return started.ok ? ok({ status: "ACCEPTED", ...started.value }) : started;
    },
  });

/** MATCH_WITHDRAWN: stops a match that the league manager has assigned to another referee. */
const matchWithdrawn = (context: RefereeContext): Operation<unknown> =>
  operation({
    request: "MATCH_WITHDRAWN",
    reply: "ACK",
    payload: messages.MatchWithdrawn,
    handle({ league_id, match_id, epoch }, caller) {
      if (!isManager(context, caller.authToken ?? "", matchRef(league_id, match_id))) {
        return protocolRejected("NOT_PERMITTED", "only this referee's league manager can withdraw a match");
      }
      context.referee.withdraw(league_id, match_id, epoch);
      return ok({});
    },
  });

/** The rejection of an order that cannot be played; null if it can be played. */
function faultOfOrder(order: messages.StartGame, ref: string): ReturnType<typeof rejected> | null {
  const invalid = (message: string) => rejected("INVALID_ORDER", message, { match: ref });
  const game = findGame(order.game);
  if (!game) return rejected("UNKNOWN_GAME", `unknown game ${order.game}`, { match: ref });
  const roles = Object.keys(order.roles);
  if (roles.length !== game.roles.length || !game.roles.every((role) => roles.includes(role))) {
    return invalid(`${order.game} is played by ${game.roles.join(" and ")}`);
  }
  if (new Set(Object.values(order.roles).map((player) => player.match_token)).size < roles.length) {
    return invalid("each player needs a different match token");
  }
  const options = game.options.safeParse(order.options ?? {});
  return options.success ? null : invalid(`options: ${messageOf(options.error)}`);
}

const { join_ms, move_ms, game_over_ms } = Timeouts.parse({});
const endpoint = z.string().max(2000).optional();
const token = z.string().max(1000).optional();
const ENDPOINT = "MCP endpoint of the player; default: its endpoint in a match that this referee plays now";
const TOKEN = "match token of the player; created by default";

/** The arguments of start_game for a caller that names only the match and its players. The other arguments have defaults or are derived. */
const StartGameByPlayers = z.object({
  player1_id: id.describe("player in the first role of the game"),
  player2_id: id.describe("player in the second role of the game"),
  match_id: id,
  player1_endpoint: endpoint.describe(ENDPOINT),
  player2_endpoint: endpoint.describe(ENDPOINT),
  player1_token: token.describe(TOKEN),
  player2_token: token.describe(TOKEN),
  league_id: id.optional().describe("default: the league of the match if it is played here now, else friendly"),
  round_id: z.int().default(1),
  epoch: z.int().min(1).default(1),
  game: id.default("even_odd.v1"),
  options: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("options of the game; game://rules/{game} lists them"),
  seed: z.string().max(1000).optional().describe("seed of the match; created by default"),
  timeouts: messages.StartGame.shape.timeouts.default({ join_ms, move_ms, game_over_ms }),
  auth_token: z.string().max(1000).optional().describe("signature of the league manager for this match"),
});
type StartGameByPlayers = z.infer<typeof StartGameByPlayers>;

/** The input of start_game: the complete order that the league manager sends, or the match and its two players. */
const StartGame = z.union(
  [messages.StartGame, StartGameByPlayers],
  "give player1_id, player2_id and match_id, or the complete order with roles as the league manager sends it",
);
type StartGame = z.infer<typeof StartGame>;

const isComplete = (input: StartGame): input is messages.StartGame => "roles" in input;

/** The league and match of a start_game call, as `league_id/match_id`: the subject of the manager's signature. */
function matchOf(input: StartGame, running: ReturnType<Referee["running"]>): string {
  if (input.league_id !== undefined) return matchRef(input.league_id, input.match_id);
  const known = running.find(({ order }) => order.match_id === input.match_id);
  return known?.ref ?? matchRef("friendly", input.match_id);
}

/**
 * Returns the complete order. A match under way keeps its order, and missing endpoints are taken from the matches under way. Missing seeds and
 * tokens are derived from `secret`, so that a repeated call gives the same order even after the match. Returns UNKNOWN_PLAYER if an
 * endpoint is missing and unknown, with the names of the arguments.
 */
function orderOf(
  input: StartGame,
  running: ReturnType<Referee["running"]>,
  secret: string,
): Result<messages.StartGame, Rejection> {
  if (isComplete(input)) return ok(input);
  const ref = matchOf(input, running);
  const known = running.find((match) => match.ref === ref)?.order;
  if (known && isSamePlayers(input, known)) return ok(known);
  const game = findGame(input.game);
  const [firstRole = "player_1", secondRole = "player_2"] = game?.roles ?? [];
  const { player1_id, player2_id, player1_endpoint, player2_endpoint, player1_token, player2_token, epoch } = input;
  const derived = (argument: string): string =>
    hmacBase64Url(secret, JSON.stringify([argument, ref, epoch, player1_id, player2_id]));
  const first = seatOf(player1_id, player1_endpoint, player1_token || derived("player1_token"), running);
  const second = seatOf(player2_id, player2_endpoint, player2_token || derived("player2_token"), running);
  const missing = [
    ...(first ? [] : [[player1_id, "player1_endpoint"]]),
    ...(second ? [] : [[player2_id, "player2_endpoint"]]),
  ];
  if (!first || !second) {
    const faults = missing.map(
      ([player, argument]) => `${argument}: ${player} has no match under way here, so its endpoint is unknown`,
    );
    const remedy = `Give ${missing.map(([, argument]) => argument).join(" and ")}, e.g. http://127.0.0.1:8101/mcp`;
    return rejected("UNKNOWN_PLAYER", `${faults.join("; ")}. ${remedy}`, { match: ref });
  }
  const { match_id, round_id, options, timeouts, seed = derived("seed") } = input;
  const league_id = ref.slice(0, ref.length - match_id.length - 1);
  const roles = { [firstRole]: first, [secondRole]: second };
  return ok({ league_id, match_id, round_id, epoch, game: input.game, options, timeouts, seed, roles });
}

const isSamePlayers = ({ player1_id, player2_id, epoch }: StartGameByPlayers, order: messages.StartGame): boolean =>
  order.epoch === epoch &&
  Object.values(order.roles)
    .map((player) => player.player_id)
    .join("\n") === `${player1_id}\n${player2_id}`;

/** A player in an order. */
type OrderedPlayer = messages.StartGame["roles"][string];

/** The seat of a player with the given endpoint or that of a match under way; null if there is neither. */
function seatOf(
  player_id: string,
  endpoint: string | undefined,
  match_token: string,
  running: ReturnType<Referee["running"]>,
): OrderedPlayer | null {
  if (endpoint !== undefined) {
    const capabilities = { dialect: "native", legal_actions: true, round_results: true };
    return { player_id, endpoint, match_token, ...capabilities };
  }
  const known = running
    .flatMap(({ order }) => Object.values(order.roles))
    .find((player) => player.player_id === player_id);
  return known ? { ...known, match_token } : null;
}

const ValidateMove = z.object({
  player_id: id.describe("player of a league match, or the role in a game made with createGame, e.g. white"),
  move: z.unknown(),
  match_id: id.optional().describe("match_id of a league match, or game_id of a game made with createGame"),
});

/** Another value is accepted too, and is not a legal move. */
const ValidateMoveInput = ValidateMove.extend({ move: WrittenMove.describe("the move as in finishTurn or make_move") });

/** VALIDATE_MOVE: checks whether a move would be legal now, without playing it. */
const validateMove = (context: RefereeContext): Operation<unknown> =>
  operation({
    request: "VALIDATE_MOVE",
    reply: "VALIDATE_MOVE_RESPONSE",
    payload: ValidateMove,
    tool: {
      name: "validate_move",
      title: "Validate a move",
      description:
        "Checks whether a move would be legal now, without making it. Returns valid, and a reason if the move is not legal.",
      plain: ValidateMove,
      input: ValidateMoveInput,
      result: z.object({
        valid: z.boolean(),
        reason: z.string().nullable().describe("why the move is not legal; null if it is legal"),
        player_id: z.string(),
        role: z.string(),
        move: z.unknown(),
      }),
      annotations: { readOnlyHint: true },
    },
    handle({ player_id, move, match_id }, caller) {
      const game =
        match_id !== undefined && isSessionId(match_id) ? context.play.accessTo(match_id, caller.authToken) : null;
      const found = game ? seatIn(game.stored.session, player_id) : sessionWith(context, player_id, match_id);
      if (!found.ok) return protocolResult(found);
      const { session, role } = found.value;
      if (session.status === "completed") {
        const message = `the match is over: ${session.reason}`;
        return protocolRejected("SESSION_OVER", message, { match_id: match_id ?? null });
      }
      const reason = context.host.lobby.waiting(session)?.message ?? whyIllegal(session, role, move);
      return ok({ valid: reason === null, reason, player_id, role, move });
    },
  });

type SessionSeat = Result<{ session: Session; role: Role }, Rejection>;

/** Returns the seat of a game by its role or by the agent that holds it. */
function seatIn(session: Session, playerId: string): SessionSeat {
  const role = Object.entries(session.participants).find((seat) => seat.includes(playerId))?.[0];
  if (role !== undefined) return ok({ session, role });
  return rejected("UNKNOWN_PLAYER", `player_id: this game has the roles ${session.game.roles.join(" and ")}`);
}

/** The session and role of a player in a match under way, or in the completed match `matchId`. */
function sessionWith(context: RefereeContext, playerId: string, matchId: string | undefined): SessionSeat {
  const seats = context.referee.running().flatMap(({ ref, order, sessionId }) => {
    const role = Object.entries(order.roles).find(([, player]) => player.player_id === playerId)?.[0];
    const isMatch = matchId === undefined || matchId === ref || matchId === order.match_id;
    return role !== undefined && isMatch ? [{ ref, role, sessionId }] : [];
  });
  const [only, another] = seats;
  if (!only) {
    const finished = matchId === undefined ? null : finishedWith(context, playerId, matchId);
    if (finished) return ok(finished);
    const remedy = "for a game made with createGame give match_id (its game_id) and player_id (the role)";
    return rejected("UNKNOWN_SESSION", `${playerId} has no such match here; ${remedy}`, { player_id: playerId });
  }
  if (another) {
    const choices = seats.map(({ ref }) => ref);
    return rejected("AMBIGUOUS_MATCH", `${playerId} plays several matches; give match_id`, { choices });
  }
  const session = context.host.read(only.sessionId)?.session;
  if (!session) return rejected("UNKNOWN_SESSION", "the match has just ended", { player_id: playerId });
  return ok({ session, role: only.role });
}

/** The session and role of a player in a match that is over; null if there is no such match. */
function finishedWith({ referee, host }: RefereeContext, playerId: string, matchId: string) {
  const sessionId = referee.sessionOf(matchId);
  const session = sessionId.ok ? host.read(sessionId.value)?.session : undefined;
  const seat = Object.entries(session?.participants ?? {}).find(([, agentId]) => playerOf(agentId) === playerId);
  return session?.status === "completed" && seat ? { session, role: seat[0] } : null;
}

/** The reason why a move is not legal; null if it is legal. In a simultaneous turn the answer does not depend on whether the role has chosen. */
function whyIllegal(session: Session, role: Role, move: unknown): string | null {
  const { game, state } = session;
  const action = game.action.safeParse(readMove(game, spectatorView(session).state, role, move));
  if (!action.success) return action.error.issues[0]?.message ?? "not an action of this game";
  if (game.isDriverAction?.(action.data)) return "not an action of a player";
  if (game.info.simultaneous) {
    const legal = game.legalActions(spectatorView(session).state, role);
    const isLegal = legal.some((legalAction) => isDeepStrictEqual(legalAction, action.data));
    return isLegal ? null : `choose one of ${legal.map((legalAction) => JSON.stringify(legalAction)).join(", ")}`;
  }
  if (!driverView(session).toAct.includes(role)) return "Not your turn";
  const applied = game.applyAction(state, role, action.data);
  return applied.ok ? null : (explainIllegal(game, state, move) ?? applied.error.message);
}

export const GetGameState = z.object({
  match_id: id.describe("match_id of a league match, or game_id from createGame"),
});
export const GameState = z.object({
  match_id: z.string(),
  session_id: z.string(),
  game: z.string(),
  status: z.enum(["waiting_for_players", "active", "completed"]),
  tick: z.int(),
  state: z.unknown().describe("the state of the game as the caller may see it"),
  your_role: z.string().optional(),
  legal_actions: z.array(z.unknown()).optional(),
  termination: z.string().nullable(),
  reason: z.string().nullable(),
  clock: ClockState.optional().describe("the clocks at the start of the open turn; absent in a match without clocks"),
  restart: z
    .object({ attempt: z.int(), reason: z.string().nullable() })
    .optional()
    .describe("why the league match has begun again; absent in the first attempt"),
});

/** GET_GAME_STATE: returns the state of a game or match as its caller may see it. */
const getGameState = (context: RefereeContext): Operation<unknown> =>
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
      const game = isSessionId(match_id) ? context.play.accessTo(match_id, caller.authToken) : null;
      if (game) return ok({ match_id, ...matchState(game.stored.session, game.viewer, context) });
      const found = context.referee.sessionOf(match_id);
      if (!found.ok) return found;
      const match = context.play.accessTo(found.value, caller.authToken);
      if (!match) return protocolRejected("UNKNOWN_SESSION", `no match ${match_id} here`, { match_id });
      return ok({ match_id, ...matchState(match.stored.session, match.viewer, context) });
    },
  });

/** Returns an operation that rejects requests about a session whose game is not loaded. */
export const rejectingNotLoaded = (operation: Operation<unknown>): Operation<unknown> => ({
  ...operation,
  async handle(payload, caller) {
    try {
      return await operation.handle(payload, caller);
    } catch (thrown) {
      if (thrown instanceof GameNotLoaded) return err(protocolErrorOf(thrown.rejection));
      throw thrown;
    }
  },
});

/** Returns a template whose resources of sessions without a loaded game are rejected. */
export const rejectingNotLoadedTemplate = (template: ResourceTemplate): ResourceTemplate => ({
  ...template,
  async read(variables) {
    try {
      return await template.read(variables);
    } catch (thrown) {
      if (thrown instanceof GameNotLoaded) throw rpcError(INVALID_PARAMS, thrown.message, thrown.rejection.context);
      throw thrown;
    }
  },
});
