import { z } from "zod";
import type { Ids } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { type AnswerOrQuestion, type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import type { Director, Players } from "./director.ts";
import { playerTypes } from "./flow.ts";
import { Report, reportContent, reportOf } from "./report.ts";
import { ANSWER_REJECTED } from "./rounds.ts";
import { Setup, wordsFor } from "./setup.ts";
import type { LedGame } from "./table.ts";

interface CodenamesToolsContext {
  readonly director: Director;
  readonly log: Logger;
  readonly ids: Ids;
}

const player = z.enum(playerTypes);
const game_token = z
  .string()
  .max(200)
  .optional()
  .describe(
    "the game, as returned by create_new_game; not needed in the MCP session, or with the bearer token, that created it",
  );
const CreateNewGame = z.object({
  red_spymaster: player.describe("user: a person fills in forms; llm: the host's model answers prompts"),
  red_team: player,
  blue_spymaster: player,
  blue_team: player,
});
const OneGame = z.object({ game_token });

/** The tools that run a game by asking the caller's user and model. */
export const codenamesOperations = (context: CodenamesToolsContext): readonly Operation<unknown>[] => [
  createNewGame(context),
  continueGame(context),
  endGame(context),
];

/** The tool `create_new_game`: begins a game and runs it to its end. */
const createNewGame = (context: CodenamesToolsContext): Operation<unknown> =>
  operation({
    request: "CREATE_NEW_GAME",
    reply: "CREATE_NEW_GAME_RESPONSE",
    payload: CreateNewGame,
    tool: {
      name: "create_new_game",
      title: "Play Codenames",
      description:
        "Runs a complete game of Codenames in this one call: people are asked by forms (elicitation), the host's model by prompts (sampling), each with only the information that its role may have. Give user or llm for each of the four roles. If the call is interrupted, continue_game continues at the open question. Hosts without sampling play codenames.v1 with createGame and joinGame.",
      plain: CreateNewGame,
      result: Report,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      waits: true,
      shown: reportContent,
    },
    async handle(players, caller) {
      const started = startedIn(context, caller);
      if (started) return nextStep(context, started, caller);
      const missing = missingCapabilities(players, caller);
      if (missing !== null) return protocolRejected("CANNOT_ASK", missing);
      const current = context.director.gameOf(undefined, caller);
      if (current && context.director.isOpen(current)) {
        return protocolRejected("GAME_ALREADY_OPEN", alreadyOpen(context.director.tokenOf(current.sessionId)));
      }
      const round = Setup.safeParse(caller.input?.state);
      const setupId = round.success ? round.data.id : context.ids.uuid();
      const unanswered = { ...caller, input: caller.input && { ...caller.input, answer: null, state: null } };
      const begun = context.director.begunBy(setupId);
      if (begun) return nextStep(context, begun, unanswered);
      const setup = wordsFor(caller, round.success ? round.data : null, setupId, (problem) =>
        context.log.info(problem, ANSWER_REJECTED),
      );
      if ("question" in setup || "ok" in setup) return setup;
      const game = await context.director.begin(players, setup.words, setupId, caller);
      return game ? nextStep(context, game, unanswered) : protocolRejected("GAME_ALREADY_OPEN", BEING_CREATED);
    },
  });

/** The tool `continue_game`: resumes a game after an interrupted call. */
const continueGame = (context: CodenamesToolsContext): Operation<unknown> =>
  operation({
    request: "CONTINUE_GAME",
    reply: "CONTINUE_GAME_RESPONSE",
    payload: OneGame,
    tool: {
      name: "continue_game",
      title: "Continue Codenames",
      description:
        "Continues a game of Codenames whose call was interrupted, at its open question. For a game that is over it returns the result.",
      plain: OneGame,
      result: Report,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
      waits: true,
      shown: reportContent,
    },
    async handle({ game_token: token }, caller) {
      const started = token === undefined ? startedIn(context, caller) : null;
      const game = started ?? context.director.gameOf(token, caller);
      if (!game) return noGame(token);
      if (token !== undefined) await context.director.adopt(game, caller);
      return nextStep(context, game, caller);
    },
  });

/** The tool `end_game`: ends the open game. */
const endGame = (context: CodenamesToolsContext): Operation<unknown> =>
  operation({
    request: "END_GAME",
    reply: "END_GAME_RESPONSE",
    payload: OneGame,
    tool: {
      name: "end_game",
      title: "End Codenames",
      description: "Ends the open game of Codenames; safe to call at any time.",
      plain: OneGame,
      result: z.union([Report, z.object({ status: z.literal("no_game") })]),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
      shown: reportContent,
    },
    async handle({ game_token: token }, caller) {
      const game = context.director.gameOf(token, caller);
      if (!game) return token === undefined ? ok({ status: "no_game" }) : noGame(token);
      if (context.director.isOpen(game)) await context.director.end(game.sessionId);
      return ok(reportOf(context.director, game.sessionId));
    },
  });

/** Resolves with the next question of a game, or with its report if the game is over. */
async function nextStep(
  { director }: CodenamesToolsContext,
  { sessionId, players }: LedGame,
  caller: Caller,
): Promise<AnswerOrQuestion> {
  const isOpen = director.session(sessionId).status === "active";
  const missing = isOpen ? missingCapabilities(players, caller) : null;
  if (missing !== null) return protocolRejected("CANNOT_ASK", missing);
  return (isOpen ? await director.advance(sessionId, caller) : null) ?? ok(reportOf(director, sessionId));
}

/** The game of an earlier round of the same call. */
function startedIn({ director }: CodenamesToolsContext, { input }: Caller): LedGame | null {
  const round = z.object({ game_id: z.string() }).safeParse(input?.state);
  return round.success ? director.gameById(round.data.game_id) : null;
}

/** The message for a caller that cannot be asked for these players, with the alternatives; null if it can be asked. */
function missingCapabilities(players: Players, { input }: Caller): string | null {
  const types = Object.values(players);
  const forms = types.includes("user") && !input?.canFillForms;
  const prompts = types.includes("llm") && !input?.canPrompt;
  if (!forms && !prompts) return null;
  const missing = [forms && "forms (elicitation)", prompts && "prompts (sampling)"].filter(Boolean).join(" and ");
  return `Your MCP host does not offer ${missing}, which these players need. Play codenames.v1 with createGame, joinGame, waitForNextTurn and finishTurn, or with the command league codenames`;
}

const alreadyOpen = (token: string): string =>
  `A game of Codenames is already open (game_token ${token}): call continue_game to continue it, or end_game to end it`;

const BEING_CREATED = "A game of Codenames is being created for this caller: call continue_game to continue it";

const noGame = (token: string | undefined) =>
  protocolRejected(
    "UNKNOWN_GAME_TOKEN",
    token === undefined
      ? "There is no game of Codenames for this caller: give its game_token, or call create_new_game"
      : undefined,
  );
