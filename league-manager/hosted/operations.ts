import { z } from "zod";
import { findGame } from "#shared/games/registry.ts";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { DisplayName, id, WrittenMove } from "#shared/protocol/message-fields.ts";
import { withProgress } from "#shared/rpc/jsonrpc/http-context.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Home, OtherHome } from "../cluster/homes.ts";
import { leaveLeagues } from "../commands/players.ts";
import { PlayState, playState } from "./hosted-state.ts";
import type { Seats } from "./seats.ts";
import { joinedInWords, stateInWords } from "./texts.ts";

const playerToken = z
  .string()
  .max(200)
  .optional()
  .describe("your secret from join_league; not needed in the MCP session that has called join_league");

const JoinLeague = z.object({
  player_name: DisplayName.describe("your name in the standings"),
  league_id: id.optional().describe("the league to enter; default: every open league"),
  join_code: z.string().max(1000).optional().describe("the join code of the league, if it has one"),
  player_token: z
    .string()
    .max(200)
    .optional()
    .describe("your secret of an earlier join_league, to continue as the same player under the same name"),
});
const Joined = PlayState.extend({
  player_token: z.string().describe("your secret; keep it: any caller that has it can play for you"),
});
const WaitForTurn = z.object({
  player_token: playerToken,
  timeout_s: z.number().min(0).max(60).default(25).describe("maximum time to wait, in seconds"),
});
const Waited = PlayState.extend({ timed_out: z.boolean() });
const MakeMove = z.object({
  move: WrittenMove.describe("one of the legal moves that wait_for_turn lists; in chess UCI or SAN"),
  match_id: id
    .optional()
    .describe("league_id/match_id; default: the match in which you are to move, the most urgent first"),
  player_token: playerToken,
});
const LeaveLeague = z.object({ player_token: playerToken });

type Shown = { readonly value: PlayState };

/** The tools with which a person or a model plays in a league without a program. The manager answers everything except moves. */
export const hostedOperations = (seats: Seats): readonly Operation<unknown>[] => [
  joinLeague(seats),
  waitForTurn(seats),
  makeMove(seats),
  leaveLeague(seats),
];

/** The time limit for another manager that answers without waiting, in addition to the time that it may wait. */
const AT_ONCE = { timeoutMs: 5_000 } as const;

/** The answer while the inbox of a player moves to another manager. */
const MOVING = err(
  protocolError("L001", "Your matches are moving to another server of this league. Call the tool again", {}, true),
);

const isElsewhere = (home: Home): home is OtherHome => typeof home === "object";

/** Returns the manager that answers for a player; null if its inbox moves at the moment. */
function homeOf(seats: Seats, playerId: string, { isPassedOn }: Caller): "here" | OtherHome | null {
  const home = seats.homes.of(playerId);
  if (isElsewhere(home)) return isPassedOn ? null : home;
  return home === "here" ? home : null;
}

const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

const joinLeague = (seats: Seats): Operation<unknown> =>
  operation({
    request: "JOIN_LEAGUE",
    reply: "JOIN_LEAGUE_RESPONSE",
    payload: JoinLeague,
    tool: {
      name: "join_league",
      title: "Join a league",
      description:
        "Enters you as a player into a league of this server. You play by these tools and need no program of your own: call wait_for_turn to wait for your turn, and make_move to move. Returns your player_token, which is secret.",
      plain: JoinLeague,
      result: Joined,
      annotations: { readOnlyHint: false, destructiveHint: false },
      shown: (value: z.infer<typeof Joined>) => {
        const rules = value.leagues.flatMap(({ game }) => findGame(game)?.info.rules ?? []);
        return text(joinedInWords(value as unknown as PlayState, value.player_token, rules));
      },
    },
    async handle({ player_name, league_id, join_code, player_token }, caller) {
      const joined = await seats.join(
        { name: player_name, leagueId: league_id, joinCode: join_code },
        player_token,
        caller,
      );
      if (!joined.ok) return joined;
      const { playerId, token } = joined.value;
      const home = seats.homes.of(playerId);
      const asked = isElsewhere(home)
        ? await home.ask("WAIT_FOR_TURN", { player_token: token, timeout_s: 0 }, caller, AT_ONCE)
        : null;
      const state = asked?.ok ? PlayState.parse(asked.value) : playState(seats.context, playerId);
      return ok({ ...state, player_token: token });
    },
  });

const waitForTurn = (seats: Seats): Operation<unknown> =>
  operation({
    request: "WAIT_FOR_TURN",
    reply: "WAIT_FOR_TURN_RESPONSE",
    payload: WaitForTurn,
    tool: {
      name: "wait_for_turn",
      title: "Wait for your turn",
      description:
        "Waits until you are to move in a match of your league, until a match has ended or until your leagues are over, for up to 25 seconds. Returns the position and the legal moves of each open turn, new results and your rank. A timeout is normal: call this tool again immediately.",
      plain: WaitForTurn,
      waits: true,
      result: Waited,
      annotations: { readOnlyHint: true, idempotentHint: true },
      shown: (value: z.infer<typeof Waited>, { timeout_s }) =>
        text(stateInWords(value as unknown as PlayState, value.timed_out ? timeout_s : null)),
    },
    async handle({ player_token, timeout_s }, caller) {
      const player = seats.playerOf(player_token, caller);
      if (!player.ok) return player;
      const { playerId, token } = player.value;
      const { context } = seats;
      const { progress } = caller;
      const timeoutMs = timeout_s * 1000;
      const report = progress && ((doneMs: number, message: string) => progress(doneMs / 1000, timeout_s, message));
      const reported = <T>(waiting: Promise<T>): Promise<T> =>
        withProgress(waiting, "waiting for your turn", { timeoutMs, progress: report }, context.clock);
      const home = homeOf(seats, playerId, caller);
      if (home === null) return MOVING;
      if (home !== "here") {
        const options = { timeoutMs: timeoutMs + AT_ONCE.timeoutMs, signal: caller.abortSignal?.() };
        return (
          (await reported(home.ask("WAIT_FOR_TURN", { player_token: token, timeout_s }, caller, options))) ?? MOVING
        );
      }
      const isOver = (): boolean => {
        const { next, results } = playState(context, playerId);
        return next !== "waiting" || results.length > 0;
      };
      const isDone = await reported(
        context.hosted.wait(playerId, isOver, { timeoutMs, signal: caller.abortSignal?.() }),
      );
      const state = playState(context, playerId);
      context.hosted.reportResults(playerId);
      return ok({ ...state, timed_out: !isDone });
    },
  });

const makeMove = (seats: Seats): Operation<unknown> =>
  operation({
    request: "MAKE_MOVE",
    reply: "MAKE_MOVE_RESPONSE",
    payload: MakeMove,
    tool: {
      name: "make_move",
      title: "Make a move",
      description:
        "Makes your move in a match of your league. If the move is not legal, nothing changes, and the error lists the legal moves. Next, call wait_for_turn.",
      plain: MakeMove,
      result: PlayState,
      annotations: { readOnlyHint: false, destructiveHint: false },
      shown: (value: Shown["value"]) => text(`Move made.\n\n${stateInWords(value)}`),
    },
    async handle({ move, match_id, player_token }, caller) {
      const player = seats.playerOf(player_token, caller);
      if (!player.ok) return player;
      const { playerId, token } = player.value;
      const home = homeOf(seats, playerId, caller);
      if (home === null) return MOVING;
      if (home !== "here") {
        const payload = { move, ...(match_id !== undefined && { match_id }), player_token: token };
        return (await home.ask("MAKE_MOVE", payload, caller, AT_ONCE)) ?? MOVING;
      }
      const moved = seats.context.hosted.move(playerId, match_id ?? null, move);
      return moved.ok ? ok(playState(seats.context, playerId)) : moved;
    },
  });

const leaveLeague = (seats: Seats): Operation<unknown> =>
  operation({
    request: "LEAVE_LEAGUE",
    reply: "LEAVE_LEAGUE_RESPONSE",
    payload: LeaveLeague,
    tool: {
      name: "leave_league",
      title: "Leave your leagues",
      description:
        "Takes you out of your leagues. If a league has started, you forfeit your open match and all later matches. Do this only if the user asks for it.",
      plain: LeaveLeague,
      result: z.object({ status: z.literal("LEFT"), player_id: id }),
      annotations: { readOnlyHint: false, destructiveHint: true },
      shown: () => text("You have left your leagues."),
    },
    async handle({ player_token }, caller) {
      const player = seats.playerOf(player_token, caller);
      if (!player.ok) return player;
      const { playerId } = player.value;
      const left = await seats.execute(leaveLeagues(playerId));
      return left.ok ? ok({ status: "LEFT", player_id: playerId }) : err(left.error);
    },
  });
