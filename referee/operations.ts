import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Role } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { isSessionId, matchRef, newToken } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import * as messages from "#shared/protocol/messages.ts";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { type Operation, operation } from "#shared/rpc/operations.ts";
import type { Session } from "#shared/session/session.ts";
import type { SessionHost } from "./host.ts";
import type { Play } from "./play/play.ts";
import type { Referee } from "./referee.ts";
import { shown } from "./state-view.ts";

export interface RefereeDesk {
  readonly host: SessionHost;
  readonly referee: Referee;
  readonly identity: { readonly token: string | null };
  readonly maxConcurrentMatches: number;
  /** Games that are no matches of a league; they may be asked for and watched by their session's id. */
  readonly play: Play;
}

const id = z.string().min(1).max(200);
const token = z.string().max(1000).optional().describe("the player's match token; drawn without it");

/** Plain arguments of start_game: the two players in the order of the game's roles, or `roles` as the manager sends them. */
const PlainStartGame = z.union(
  [
    messages.StartGame,
    z
      .object({
        player1_id: id,
        player2_id: id,
        match_id: id,
        player1_endpoint: z.string().max(2000),
        player2_endpoint: z.string().max(2000),
        player1_token: token,
        player2_token: token,
        league_id: id.default("friendly"),
        round_id: z.int().default(1),
        epoch: z.int().min(1).default(1),
        game: id.default("even_odd.v1"),
        options: z.record(z.string(), z.unknown()).default({}),
        seed: z.string().max(1000),
        timeouts: messages.StartGame.shape.timeouts.default({ join_ms: 5_000, move_ms: 30_000, game_over_ms: 5_000 }),
      })
      .transform(
        ({ player1_id, player2_id, player1_endpoint, player2_endpoint, player1_token, player2_token, ...rest }) => {
          const [first = "player_1", second = "player_2"] = findGame(rest.game)?.roles ?? [];
          const seat = (player_id: string, endpoint: string, match_token: string | undefined) => ({
            player_id,
            endpoint,
            match_token: match_token || newToken(),
            dialect: "native",
            legal_actions: true,
            round_results: true,
            batch: false,
          });
          const roles = {
            [first]: seat(player1_id, player1_endpoint, player1_token),
            [second]: seat(player2_id, player2_endpoint, player2_token),
          };
          return { ...rest, roles };
        },
      ),
  ],
  "give match_id, seed and for each player id and endpoint (player1_id, player1_endpoint, …), or roles as the league manager does",
) as z.ZodType<messages.StartGame>;

const ValidateMove = z.object({ player_id: id, move: z.unknown(), match_id: id.optional() });
export const GetGameState = z.object({ match_id: id });
export const GameState = z.object({
  match_id: z.string(),
  session_id: z.string(),
  game: z.string(),
  status: z.enum(["active", "completed"]),
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
      payload: messages.StartGame,
      tool: {
        name: "start_game",
        title: "Start a match",
        description:
          "Starts a match between two players; only the league manager may, with its signature in auth_token. Accepted once per league_id, match_id and epoch.",
        plain: PlainStartGame,
        result: z.object({ status: z.literal("ACCEPTED"), match_id: z.string(), session_id: z.string() }),
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
      },
      async handle(order, caller) {
        const ref = matchRef(order.league_id, order.match_id);
        if (!isManager(desk, caller.authToken ?? "", ref)) {
          return err(
            protocolError("L004", "start_game is taken from this referee's league manager only", { match: ref }),
          );
        }
        const fault = faultOfOrder(order);
        if (fault) return err(protocolError("G003", fault, { match: ref }));
        const running = desk.referee.running();
        if (running.length >= desk.maxConcurrentMatches && !running.some((one) => one.ref === ref)) {
          return err(
            protocolError("G005", "this referee has as many matches as it takes at a time", { match: ref }, true),
          );
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
          return err(protocolError("L004", "a match is withdrawn by this referee's league manager only"));
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
        description: "Whether a player's move would be legal in its running match now; nothing is played.",
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
      async handle({ player_id, move, match_id }) {
        const found = await sessionWith(desk, player_id, match_id);
        if (!found.ok) return found;
        const { session, role } = found.value;
        const reason = whyIllegal(session, role, move);
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
          "The state of a match as a spectator may see it; with a seat's match token in auth_token, as that player sees it.",
        plain: GetGameState,
        result: GameState,
        annotations: { readOnlyHint: true },
      },
      async handle({ match_id }, caller) {
        const game = isSessionId(match_id) ? desk.play.look(match_id, caller.authToken) : null;
        if (game) return ok({ match_id, ...shown(game.kept.session, game.viewer) });
        const found = desk.referee.sessionOf(match_id);
        if (!found.ok) return found;
        const match = desk.play.look(found.value, caller.authToken);
        if (!match) return err(protocolError("G003", `no match ${match_id} here`, { match_id }));
        return ok({ match_id, ...shown(match.kept.session, match.viewer) });
      },
    }),
  ];
}

function faultOfOrder(order: messages.StartGame): string | null {
  const game = findGame(order.game);
  if (!game) return `unknown game ${order.game}`;
  const roles = Object.keys(order.roles);
  if (roles.length !== game.roles.length || !game.roles.every((role) => roles.includes(role))) {
    return `${order.game} is played by ${game.roles.join(" and ")}`;
  }
  if (new Set(Object.values(order.roles).map((player) => player.match_token)).size < roles.length) {
    return "each player needs a match token of its own";
  }
  const options = game.options.safeParse(order.options ?? {});
  return options.success ? null : `options: ${options.error.issues[0]?.message}`;
}

async function sessionWith(
  desk: RefereeDesk,
  playerId: string,
  matchId: string | undefined,
): Promise<Result<{ session: Session; role: Role }, ProtocolError>> {
  const playing = desk.referee.running().flatMap(({ ref, order, sessionId }) => {
    const role = Object.entries(order.roles).find(([, player]) => player.player_id === playerId)?.[0];
    const isMeant = matchId === undefined || matchId === ref || matchId === order.match_id;
    return role !== undefined && isMeant ? [{ ref, role, sessionId }] : [];
  });
  const [only, another] = playing;
  if (!only) return err(protocolError("G003", `${playerId} plays no such match here now`, { player_id: playerId }));
  if (another) {
    const choices = playing.map((one) => one.ref);
    return err(protocolError("G003", `${playerId} plays several matches; name one of them`, { choices }, true));
  }
  const session = desk.host.read(only.sessionId)?.session;
  if (!session) return err(protocolError("G003", "the match has just ended", { player_id: playerId }));
  return ok({ session, role: only.role });
}

/** Null when the move would be taken. In a simultaneous turn the answer is the same whether the role has chosen or not. */
function whyIllegal(session: Session, role: Role, move: unknown): string | null {
  const { game, state } = session;
  const action = game.action.safeParse(move);
  if (!action.success) return action.error.issues[0]?.message ?? "not an action of this game";
  if (session.status === "completed") return "The session is over";
  if (game.info.simultaneous) {
    const legal = game.legalActions(game.viewState(state, "spectator"), role);
    const isLegal = legal.some((one) => isDeepStrictEqual(one, action.data));
    return isLegal ? null : `choose one of ${legal.map((one) => JSON.stringify(one)).join(", ")}`;
  }
  if (!game.toAct(state).includes(role)) return "Not your turn";
  const applied = game.applyAction(state, role, action.data);
  return applied.ok ? null : applied.error.message;
}

/** Whether a message is signed by this referee's league manager (PROTOCOL.md, section 3). */
export function isManager({ identity }: RefereeDesk, signature: string, subject: string | null): boolean {
  return identity.token !== null && subject !== null && isSignedFor(identity.token, subject, signature);
}
