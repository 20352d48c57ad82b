import { ok } from "#shared/lib/result.ts";
import { type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { protocolResult } from "../../sessions/rejections.ts";
import { BOARD, type GameToolsContext } from "./context.ts";
import { takenContent, takenGame } from "./results.ts";
import { createGameInput, JoinGame, Taken } from "./schemas.ts";

/** The tool `createGame`. */
export function createGame(context: GameToolsContext): Operation<unknown> {
  const input = createGameInput();
  return operation({
    request: "CREATE_GAME",
    reply: "CREATE_GAME_RESPONSE",
    payload: input,
    tool: {
      name: "createGame",
      title: "Create a game",
      description: `Creates a game of chess or another game and gives you a seat in it. Returns the game_id, your secret seat_token, the rules and the address of the game's page. The opponent is another agent (which calls joinGame with the game_id), a human (who gets a link, or plays on the board in this host) or a bot (bots: ${context.botNames.join(", ")}). Next, call waitForNextTurn.`,
      plain: input,
      result: Taken,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      meta: BOARD,
      shown: (value: Taken, _, caller) => takenContent(context.play, value, caller),
    },
    async handle({ template, options, play_as, opponent, name }, caller) {
      const creator = { kind: "agent", name } as const;
      const created = await context.play.create({
        template,
        options,
        playAs: play_as,
        opponent,
        creator,
        bearer: caller.authToken,
      });
      return created.ok ? ok(await takenGame(context, created.value)) : protocolResult(created);
    },
  });
}

/** The tool `joinGame`. */
export const joinGame = (context: GameToolsContext): Operation<unknown> =>
  operation({
    request: "JOIN_GAME",
    reply: "JOIN_GAME_RESPONSE",
    payload: JoinGame,
    tool: {
      name: "joinGame",
      title: "Join a game",
      description:
        "Takes an open seat in a game that another agent created with opponent agent. Returns your secret seat_token, the rules and the address of the game's page. Next, call waitForNextTurn.",
      plain: JoinGame,
      result: Taken,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      meta: BOARD,
      shown: (value: Taken, _, caller) => takenContent(context.play, value, caller),
    },
    async handle({ game_id, role, name }, caller) {
      const joined = await context.play.join(game_id, { role, name, bearer: caller.authToken });
      return joined.ok ? ok(await takenGame(context, joined.value)) : protocolResult(joined);
    },
  });
