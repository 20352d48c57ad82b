import { z } from "zod";
import { reasonInWords, winnersInWords } from "#shared/games/game.ts";
import { listName, wordOf } from "#shared/games/move-text.ts";
import { findGame } from "#shared/games/registry.ts";
import { err, ok } from "#shared/lib/result.ts";
import { counted } from "#shared/lib/text.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { DisplayName, id, WrittenMove } from "#shared/protocol/message-fields.ts";
import { withProgress } from "#shared/rpc/jsonrpc/http-context.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { clockInWords, restartInWords } from "#shared/web/texts/game-texts.ts";
import type { Home, OtherHome } from "../cluster/other-managers.ts";
import { leaveLeagues } from "../commands/agent-commands.ts";
import { PlayState, playState, type ShownLeague, type ShownMatch } from "./hosted-state.ts";
import type { Seats } from "./hosting.ts";

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

/** The maximum number of legal moves in a text. The structured content lists all. */
const MAX_LISTED = 220;

/** The state of a hosted player as text for a model. `timedOutAfterS`: the seconds that the call has waited without an event. */
function stateInWords(state: PlayState, timedOutAfterS: number | null = null): string {
  const results = state.results.map(resultInWords);
  const turns = state.turns.map(turnInWords);
  return [...results, ...turns, ...standings(state), advice(state, timedOutAfterS)].join("\n\n");
}

/** The answer to join_league as text: the secret, the rules of the games and the state. */
const joinedInWords = (state: PlayState, token: string, rules: readonly string[]): string =>
  [
    `You are ${state.name} (${state.player_id}). Your player_token (secret): ${token}`,
    ...new Set(rules),
    stateInWords(state),
  ].join("\n\n");

function turnInWords({ league_id, match_id, game, seconds_left, rejected }: ShownMatch): string {
  const rules = findGame(game.template);
  const opponents = game.roles
    .filter((role) => role !== game.your_role)
    .map((role) => game.players[role]?.name ?? role);
  const legal = game.legal_actions.slice(0, MAX_LISTED).map((action) => wordOf(action, rules));
  const more = game.legal_actions.length > MAX_LISTED ? ", …" : "";
  return [
    `Your turn in ${league_id}/${match_id}: you are ${game.your_role} in ${game.name}, against ${opponents.join(", ")}. ${Math.floor(seconds_left ?? 0)} seconds are left for this move.${clocksInWords(game.clock)}`,
    ...(game.restart ? [restartInWords(game.restart)] : []),
    ...(rejected ? [`Your last move was rejected: ${rejected}`] : []),
    `\`\`\`\n${game.board}\n\`\`\``,
    `${listName(rules)}: ${legal.join(", ")}${more}`,
  ].join("\n\n");
}

/** The clocks of the roles, as the end of a text. */
function clocksInWords(clock: ShownMatch["game"]["clock"]): string {
  if (!clock) return "";
  const times = Object.entries(clock.remaining_ms).map(([role, leftMs]) => `${role} ${clockInWords(leftMs)}`);
  return ` Clocks: ${times.join(", ")}.`;
}

function resultInWords({ league_id, match_id, game }: ShownMatch): string {
  const { result, your_role, template } = game;
  if (!result) return "";
  const { winners } = result;
  const verdict = winners.length === 0 ? "No winner" : winners.includes(your_role) ? "You have won" : "You have lost";
  const winner = winners.length === 0 ? "" : `${winnersInWords(findGame(template)?.info.teams, winners)} wins, `;
  return `${verdict} in ${league_id}/${match_id}, ${game.name} (${winner}${reasonInWords(result.reason)}).`;
}

function standings({ leagues }: PlayState): readonly string[] {
  return leagues.length === 0 ? [] : [leagues.map(leagueInWords).join("\n")];
}

function leagueInWords({
  league_id,
  game_name,
  status,
  rank,
  points,
  played,
  players,
  next_match,
}: ShownLeague): string {
  if (status === "open")
    return `League ${league_id} (${game_name}) has ${counted(players, "player")} and has not started.`;
  const next = next_match
    ? ` Next match: round ${next_match.round_id}, against ${next_match.opponents.join(", ")}.`
    : "";
  const over = status === "completed" ? " is over" : "";
  return `League ${league_id} (${game_name})${over}: rank ${rank} of ${players}, ${points} points after ${counted(played, "match", "matches")}.${next}`;
}

function advice({ next }: PlayState, timedOutAfterS: number | null): string {
  if (next === "your_turn") return "Choose one of the legal moves and call make_move before the time is over.";
  if (next === "league_over") return "Your leagues are over. There is nothing more to wait for.";
  const waited = timedOutAfterS === null ? "" : `Nothing has happened for ${timedOutAfterS} seconds, which is normal. `;
  return `${waited}Call wait_for_turn to wait for your turn.`;
}
