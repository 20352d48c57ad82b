import { z } from "zod";
import { ok } from "#shared/lib/result.ts";
import { type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { protocolResult } from "../../sessions/rejections.ts";
import { BOARD, type GameToolsContext } from "./context.ts";
import { boardContent, gameContent, shownGame } from "./results.ts";
import { finishTurnInput, type Shown, View, WaitForNextTurn } from "./schemas.ts";
import { timedOut } from "./texts.ts";

/** The tool `waitForNextTurn`. */
export const waitForNextTurn = (context: GameToolsContext): Operation<unknown> =>
  operation({
    request: "WAIT_FOR_NEXT_TURN",
    reply: "WAIT_FOR_NEXT_TURN_RESPONSE",
    payload: WaitForNextTurn,
    tool: {
      name: "waitForNextTurn",
      title: "Wait for your turn",
      description:
        "Waits until it is your turn, for up to 25 seconds, and returns the board and your legal moves. Returns immediately if it is your turn, if a person has to move (Waiting for User) or if the game is over. A timeout is normal: call this tool again immediately.",
      plain: WaitForNextTurn,
      waits: true,
      result: View.extend({ timed_out: z.boolean() }),
      annotations: { readOnlyHint: true, idempotentHint: true },
      meta: BOARD,
      async shown(value: Shown & { timed_out: boolean }, { showUi, timeout_s }, caller) {
        const result = gameContent(context.play, value, caller, value.timed_out ? timedOut(timeout_s) : undefined);
        return showUi ? { ...result, content: [...result.content, await boardContent(context, value)] } : result;
      },
    },
    async handle({ game_id, seat_token, timeout_s }, { authToken, abortSignal, progress }) {
      const timeoutMs = timeout_s * 1000;
      const waited = await context.turns.wait(game_id, seat_token ?? authToken, {
        timeoutMs,
        signal: abortSignal?.(),
        progress: progress && ((doneMs, message) => progress(doneMs / 1000, timeout_s, message)),
      });
      if (!waited.ok) return protocolResult(waited);
      const { stored, role, next, timedOut: isTimedOut } = waited.value;
      return ok({ ...shownGame(context.play, stored, role, next), timed_out: isTimedOut });
    },
  });

/** The tool `finishTurn`. */
export function finishTurn(context: GameToolsContext): Operation<unknown> {
  const input = finishTurnInput();
  return operation({
    request: "FINISH_TURN",
    reply: "FINISH_TURN_RESPONSE",
    payload: input,
    tool: {
      name: "finishTurn",
      title: "Make your move",
      description:
        "Makes your move and ends your turn, or resigns the game with resign: true. The call fails, and nothing changes, if it is not your turn or the move is not legal; the error lists the legal moves. With claim or claim_win you assert how the move ends the game; if that is false, the move is not made. Next, call waitForNextTurn.",
      plain: input,
      result: View,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      meta: BOARD,
      shown: (value: Shown, { resign }, caller) =>
        gameContent(context.play, value, caller, resign ? "You have resigned." : "Move made."),
    },
    async handle({ game_id, seat_token, move, resign, claim, claim_win, ...options }, { authToken }) {
      const finished = await context.turns.finish({
        gameId: game_id,
        token: seat_token ?? authToken,
        move,
        resign: resign === true,
        claim: claim ?? (claim_win ? "win" : null),
        expectedTick: options.expected_tick ?? null,
        idempotencyKey: options.idempotency_key ?? null,
      });
      if (!finished.ok) return protocolResult(finished);
      const { stored, role, next } = finished.value;
      return ok(shownGame(context.play, stored, role, next));
    },
  });
}
