import { z } from "zod";
import type { CodenamesView } from "#shared/games/codenames.ts";
import { endInWords } from "#shared/games/codenames-texts.ts";
import { spoken } from "#shared/games/game.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { type Asking, type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import { ANSWER_REJECTED, type Director, type Players, publicBoard, publicView } from "./director.ts";
import { playerTypes } from "./flow.ts";
import { history } from "./questions.ts";
import { Setup, wordsFor } from "./setup.ts";
import type { LedGame } from "./table.ts";

const player = z.enum(playerTypes);
const game_token = z
  .string()
  .max(200)
  .optional()
  .describe(
    "which game is meant, as create_new_game told it; not needed in the MCP session, or with the bearer token, that created it",
  );
const CreateNewGame = z.object({
  red_spymaster: player.describe("user: a person fills in forms; llm: the host's model answers prompts"),
  red_team: player,
  blue_spymaster: player,
  blue_team: player,
});
const OneGame = z.object({ game_token });

const Report = z.object({
  status: z.enum(["active", "completed", "ended"]),
  winner: z.enum(["red", "blue"]).nullable(),
  reason: z.string().nullable(),
  game_id: z.string(),
  game_token: z.string().describe("keep it: continue_game, end_game and the resources take it"),
  turns: z.int(),
  board: z.string().describe("what everybody may see"),
  history: z.string(),
});
type Report = z.infer<typeof Report>;

/** The tools that lead a game by asking the caller's user and model; continue_game resumes a game after an interrupted call. */
export function codenamesOperations(director: Director, log: Logger, ids: Ids): readonly Operation<unknown>[] {
  const report = (sessionId: string): Report => {
    const session = director.session(sessionId);
    const { status, termination, reason } = session;
    const view = publicView(session);
    return {
      status: status === "active" ? "active" : termination === "normal" ? "completed" : "ended",
      winner: view.result?.winner ?? null,
      reason,
      game_id: sessionId,
      game_token: director.tokenOf(sessionId),
      turns: view.turns.length,
      board: publicBoard(session).board,
      history: history(view),
    };
  };
  /** The next question of a game; its report once it is over. */
  const goOn = async ({ sessionId, players }: LedGame, caller: Caller): Promise<Asking> => {
    const isOpen = director.session(sessionId).status === "active";
    const missing = isOpen ? missingCapabilities(players, caller) : null;
    if (missing !== null) return protocolRejected("CANNOT_ASK", missing);
    return (isOpen ? await director.advance(sessionId, caller) : null) ?? ok(report(sessionId));
  };

  /** The game that an earlier round of the same call was about. */
  const startedIn = ({ input }: Caller): LedGame | null => {
    const round = z.object({ game_id: z.string() }).safeParse(input?.state);
    return round.success ? director.gameById(round.data.game_id) : null;
  };

  return [
    operation({
      request: "CREATE_NEW_GAME",
      reply: "CREATE_NEW_GAME_RESPONSE",
      payload: CreateNewGame,
      tool: {
        name: "create_new_game",
        title: "Play Codenames",
        description:
          "Begins a game of Codenames and leads it to its end in this one call: people are asked by forms (elicitation), the host's model by prompts (sampling), each told only what its role may know. Say user or llm for each of the four roles. If the call is cut, continue_game goes on exactly there. Hosts without sampling play codenames.v1 with createGame and joinGame.",
        plain: CreateNewGame,
        result: Report,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
        waits: true,
        shown,
      },
      async handle(players, caller) {
        const started = startedIn(caller);
        if (started) return goOn(started, caller);
        const missing = missingCapabilities(players, caller);
        if (missing !== null) return protocolRejected("CANNOT_ASK", missing);
        const own = director.gameOf(undefined, caller);
        if (own && director.isOpen(own)) {
          return protocolRejected("GAME_ALREADY_OPEN", openAlready(director.tokenOf(own.sessionId)));
        }
        const round = Setup.safeParse(caller.input?.state);
        const setupId = round.success ? round.data.id : ids.uuid();
        const unanswered = { ...caller, input: caller.input && { ...caller.input, said: null, state: null } };
        const begun = director.begunBy(setupId);
        if (begun) return goOn(begun, unanswered);
        const setup = wordsFor(caller, round.success ? round.data : null, setupId, (problem) =>
          log.info(problem, ANSWER_REJECTED),
        );
        if ("asks" in setup || "ok" in setup) return setup;
        const game = await director.begin(players, setup.words, setupId, caller);
        return game ? goOn(game, unanswered) : protocolRejected("GAME_ALREADY_OPEN", BEING_CREATED);
      },
    }),
    operation({
      request: "CONTINUE_GAME",
      reply: "CONTINUE_GAME_RESPONSE",
      payload: OneGame,
      tool: {
        name: "continue_game",
        title: "Go on with Codenames",
        description:
          "Goes on with a game of Codenames whose call was cut, exactly where it stopped; of one that is over it tells the end.",
        plain: OneGame,
        result: Report,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
        waits: true,
        shown,
      },
      async handle({ game_token: token }, caller) {
        const started = token === undefined ? startedIn(caller) : null;
        const game = started ?? director.gameOf(token, caller);
        if (!game) return noGame(token);
        if (token !== undefined) await director.adopt(game, caller);
        return goOn(game, caller);
      },
    }),
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
        shown,
      },
      async handle({ game_token: token }, caller) {
        const game = director.gameOf(token, caller);
        if (!game) return token === undefined ? ok({ status: "no_game" }) : noGame(token);
        if (director.isOpen(game)) await director.end(game.sessionId);
        return ok(report(game.sessionId));
      },
    }),
  ];
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

const openAlready = (token: string): string =>
  `A game of Codenames is open already (game_token ${token}): call continue_game to go on with it, or end_game to end it`;

const BEING_CREATED = "A game of Codenames is just being created here: call continue_game to go on with it";

const noGame = (token: string | undefined) =>
  protocolRejected(
    "UNKNOWN_GAME_TOKEN",
    token === undefined ? "No game of Codenames is here: say its game_token, or call create_new_game" : undefined,
  );

function shown(value: Report | { readonly status: "no_game" }) {
  if (value.status === "no_game")
    return { content: [{ type: "text" as const, text: "No game of Codenames was open." }] };
  const { status, board, history, game_token } = value as Report;
  // The last line of a completed board repeats the headline.
  const shownBoard = status === "completed" ? board.split("\n").slice(0, -1).join("\n") : board;
  const token = status === "active" ? `game_token: ${game_token}` : "";
  const text = [headline(value as Report), shownBoard, history, token].filter(Boolean).join("\n\n");
  return { content: [{ type: "text" as const, text }] };
}

function headline({ status, winner, reason }: Report): string {
  switch (status) {
    case "active":
      return "The game goes on.";
    case "completed":
      return `The game is over: ${endInWords({ winner, reason } as NonNullable<CodenamesView["result"]>)}.`;
    case "ended":
      return reason === "ended_by_user"
        ? "The game was ended before it was over."
        : `The game was ended (${spoken(reason ?? "")}).`;
  }
}
