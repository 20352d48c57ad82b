import { z } from "zod";
import { legalMove, listName, wordOf } from "#shared/games/move-text.ts";
import { findGame } from "#shared/games/registry.ts";
import { shownView } from "#shared/games/view-history.ts";
import { equalSecrets } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { isLoopback } from "#shared/protocol/addresses.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { agentStates } from "#shared/protocol/lifecycle.ts";
import { type Answer, type Caller, operation } from "#shared/rpc/mcp/operations.ts";
import type { Identity } from "./identity.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import type { Player } from "./matches/player.ts";
import type { NotificationLog } from "./notifications.ts";
import type { MatchInfo, Turn } from "./sdk.ts";

/** A request that make_move has not answered yet. */
interface OpenRequest {
  readonly info: MatchInfo | null;
  readonly turn: Turn;
  readonly answer: (move: unknown) => void;
}

/** The bot of a player run by hand. A request is open until make_move answers it or its time is over. */
export interface ManualBot {
  readonly bot: LoadedBot;
  /** Answers the open request of a match, or the oldest one if `matchId` is null. Rejects an illegal move (G001) and leaves its request open. */
  makeMove(move: unknown, matchId: string | null): Answer;
  /** The open requests, oldest first. */
  asked(): readonly object[];
}

const isNamed = (info: MatchInfo | null, name: string): boolean =>
  info !== null && (info.matchId === name || matchRef(info.leagueId, info.matchId) === name);

const namesOf = (requests: readonly OpenRequest[]): string =>
  requests.flatMap(({ info }) => (info ? [matchRef(info.leagueId, info.matchId)] : [])).join(", ");

/** The number of legal moves in a line on the terminal; get_my_state lists all of them. */
const MAX_LISTED = 30;

/** The view of a turn as it is shown to a person or a model. */
const shownTo = ({ game, view }: Turn): unknown => shownView(findGame(game)?.info ?? {}, view);

/** The line on the terminal for a request. */
function lineFor({ info, turn }: OpenRequest): string {
  const where = info ? matchRef(info.leagueId, info.matchId) : turn.game;
  const seconds = Math.ceil(turn.clock.remainingMs() / 1000);
  const { legal }: { legal: readonly unknown[] } = turn;
  const more = legal.length > MAX_LISTED ? `, and ${legal.length - MAX_LISTED} more` : "";
  const game = findGame(turn.game);
  const named = legal.slice(0, MAX_LISTED).map((move) => wordOf(move, game));
  const moves = `${listName(game)}: ${named.join(", ")}${more}`;
  const ask = `your move as ${turn.role} in ${where} (${turn.game}), within ${seconds} s: call make_move`;
  return `${ask}. ${moves}. ${JSON.stringify(shownTo(turn))}`;
}

export function createManualBot(): ManualBot {
  const requests: OpenRequest[] = [];
  const remove = (request: OpenRequest): void => {
    const index = requests.indexOf(request);
    if (index >= 0) requests.splice(index, 1);
  };

  const choose = (info: MatchInfo | null, turn: Turn): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const request: OpenRequest = { info, turn, answer: resolve };
      requests.push(request);
      turn.log(lineFor(request));
      turn.signal.addEventListener("abort", () => {
        remove(request);
        reject(new Error("no move was made in time"));
      });
    });

  return {
    bot: {
      name: "manual",
      readsHistory: false,
      create() {
        let info: MatchInfo | null = null;
        return {
          start(match) {
            info = match;
          },
          choose: (turn) => choose(info, turn),
        };
      },
    },
    makeMove(move, matchId) {
      const matching = requests.filter(({ info }) => matchId === null || isNamed(info, matchId));
      const [request] = matching;
      if (!request) {
        const open = requests.length === 0 ? "there is no open request" : `open requests: ${namesOf(requests)}`;
        return err(
          protocolError("G004", matchId === null ? open : `${matchId} has no open request; ${open}`, {}, true),
        );
      }
      if (matchId !== null && matching.length > 1) {
        return err(protocolError("G004", `match_id is ambiguous; give one of: ${namesOf(matching)}`, {}, true));
      }
      const { turn } = request;
      const action = legalMove(findGame(turn.game), turn, move);
      if (!action.ok) return err(protocolError("G001", action.error, {}, true));
      remove(request);
      request.answer(action.value);
      return ok({ status: "SENT", game: turn.game, your_role: turn.role, tick: turn.tick, move: action.value });
    },
    asked: () =>
      requests.map(({ info, turn }) => ({
        league_id: info?.leagueId,
        match_id: info?.matchId,
        ...(info?.restartReason && { restart: { attempt: info.epoch, reason: info.restartReason } }),
        game: turn.game,
        your_role: turn.role,
        tick: turn.tick,
        game_state: shownTo(turn),
        legal_actions: turn.legal,
        deadline: turn.clock.deadline.toISOString(),
      })),
  };
}

/** The operations of the tools of a player (PROTOCOL.md, section 4). `manual` is null if a bot makes the moves. */
export function manualOperations(
  player: Player,
  manual: ManualBot | null,
  identity: Pick<Identity, "token" | "name">,
  notifications: Pick<NotificationLog, "facts">,
) {
  const isOwner = ({ authToken }: Caller): boolean =>
    identity.token !== null && authToken !== null && equalSecrets(identity.token, authToken);
  /** Callers that may see the open requests and answer them: programs on the player's machine, and remote callers with its token. */
  const mayMove = (caller: Caller): boolean => isLoopback(caller.remoteAddress) || isOwner(caller);
  return [
    operation({
      request: "MAKE_MOVE",
      reply: "MAKE_MOVE_RESPONSE",
      payload: MakeMove,
      tool: {
        name: "make_move",
        title: "Make a move",
        description:
          "Answers the move request that is open, for a player run by hand (--bot manual). Call get_my_state first: it lists the open requests with their legal actions. An illegal move is rejected and the request stays open.",
        plain: MakeMove,
        result: z.object({
          status: z.literal("SENT"),
          game: z.string(),
          your_role: z.string(),
          tick: z.int(),
          move: z.unknown(),
        }),
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle({ move, match_id }, caller) {
        if (!manual) return err(protocolError("G004", "this player's bot decides its own moves"));
        if (!mayMove(caller))
          return err(protocolError("L004", "a caller on another machine needs this player's token"));
        return manual.makeMove(move, match_id ?? null);
      },
    }),
    operation({
      request: "GET_MY_STATE",
      reply: "GET_MY_STATE_RESPONSE",
      payload: z.object({}),
      tool: {
        name: "get_my_state",
        title: "My state",
        description:
          "Returns the player's identity and state in the league (player_id, name, state, points), its matches, its last result and, for a player run by hand, the open move requests with the view of the game, the legal actions and the deadline. Answer them with make_move.",
        plain: z.object({}),
        result: z.looseObject({
          player_id: z.string().nullable().describe("null until the league manager or a referee has sent it"),
          name: z.string(),
          state: z.enum(agentStates).describe("its lifecycle state in the league, as of the last round"),
          points: z.number().describe("sum over all its leagues"),
          leagues: z.array(z.object({ league_id: z.string(), points: z.number(), rank: z.int().nullable() })),
          bot: z.string(),
          matches_begun: z.int(),
          matches_won: z.int(),
          asked: z
            .array(z.looseObject({}))
            .optional()
            .describe("the open move requests, oldest first; make_move answers them"),
        }),
        annotations: { readOnlyHint: true },
      },
      handle: (_, caller) =>
        ok({
          ...notifications.facts(),
          name: identity.name,
          ...player.state(isOwner(caller)),
          ...(manual && mayMove(caller) && { asked: manual.asked() }),
        }),
    }),
  ];
}

/** The arguments of make_move: a `number` in even/odd, or a `move` in any game. */
export const MakeMove = z
  .object({
    number: z.int().min(1).max(5).optional().describe("the move in even/odd"),
    move: (z.union([z.string(), z.number(), z.looseObject({})]) as z.ZodType<unknown>)
      .optional()
      .describe("the move in any game: one of the legal actions that get_my_state lists; in chess UCI or SAN"),
    match_id: z
      .string()
      .max(200)
      .optional()
      .describe(
        "league_id/match_id of the match, or its match_id alone if that is unambiguous; default: the oldest request",
      ),
  })
  .refine(({ number, move }) => number !== undefined || move !== undefined, {
    path: ["move"],
    message: "is missing: give {number} from 1 to 5 or {move}",
  })
  .refine(({ number, move }) => number === undefined || move === undefined || numberIn(move) === number, {
    path: ["move"],
    message: "differs from number: give one of them, or the same move in both",
  })
  .transform(({ number, move, match_id }) => ({ move: move ?? number, match_id }));

/** The number in a move of even/odd: 3, "3" and {"number": 3} are the same move. Other moves are returned unchanged. */
function numberIn(move: unknown): unknown {
  const plain = typeof move === "string" ? parsedJson(move.trim()) : move;
  return typeof plain === "object" && plain !== null && "number" in plain ? plain.number : plain;
}
