import { z } from "zod";
import { type CodenamesView, endInWords } from "#shared/games/codenames-view.ts";
import { spoken } from "#shared/games/game.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import type { CallerAnswer } from "#shared/rpc/jsonrpc/caller-input.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Resource, ResourceTemplate } from "#shared/rpc/mcp/methods.ts";
import { type AnswerOrQuestion, type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import { driverView, seatView } from "../views.ts";
import type { LedGame } from "./codenames-table.ts";
import { ANSWER_REJECTED, type Director, type Players, publicBoard, publicView } from "./director.ts";
import {
  askForBuiltIn,
  askForSource,
  askForWords,
  history,
  MAX_ATTEMPTS,
  playerTypes,
  type Source,
  sources,
  wordsIn,
} from "./questions.ts";

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
      result: GameReport,
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
      result: GameReport,
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
      result: z.union([GameReport, z.object({ status: z.literal("no_game") })]),
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

/**
 * The state of create_new_game before the board exists. It is sent with each question. All rounds of one call have the same id, so that a
 * repetition of the last round does not create a second game.
 */
const Setup = z.object({
  setup: z.enum(["source", "own", "llm", "fallback"]),
  attempt: z.int(),
  id: z.string(),
});
type Setup = z.infer<typeof Setup>;

/** A rejected answer about the words. */
interface RejectedWords {
  readonly setup: Setup["setup"];
  readonly attempt: number;
  readonly problem: string;
}

const BUILT_IN = { words: null };

/** Returns the words of a new board, null for the built-in ones, or the next question about them. */
function wordsFor(
  { input }: Caller,
  round: Setup | null,
  id: string,
  onRejected: (rejected: RejectedWords) => void,
): AnswerOrQuestion | { readonly words: readonly string[] | null } {
  if (!input?.canFillForms) return BUILT_IN;
  const offered = sources.filter((source) => source !== "llm" || input.canPrompt);
  const { answer: reply } = input;
  if (!round || !reply) return { question: askForSource(offered, null), state: { setup: "source", attempt: 1, id } };
  const { setup, attempt } = round;
  if (setup === "fallback") return wantsBuiltIn(reply) ? BUILT_IN : noBoard("its words could not be used");
  if (setup !== "llm" && reply.kind === "form" && reply.action !== "accept") {
    return noBoard("the question about the words was declined or cancelled");
  }
  const next = { setup, attempt: attempt + 1, id };
  if (setup === "source") {
    const source = sourceIn(reply, offered);
    if (source === "built-in") return BUILT_IN;
    if (source !== null) return { question: askForWords(source, null), state: { setup: source, attempt: 1, id } };
    const problem = `choose one of ${offered.join(", ")}`;
    onRejected({ setup, attempt, problem });
    return attempt < MAX_ATTEMPTS ? { question: askForSource(offered, problem), state: next } : BUILT_IN;
  }
  const found = wordsIn(reply);
  if ("words" in found) return found;
  const { problem } = found;
  onRejected({ setup, attempt, problem });
  if (attempt < MAX_ATTEMPTS) return { question: askForWords(setup, problem), state: next };
  // The person wanted these words, so the person is asked before the built-in ones are used.
  return setup === "own"
    ? { question: askForBuiltIn(problem), state: { setup: "fallback", attempt: 1, id } }
    : BUILT_IN;
}

const noBoard = (reason: string): AnswerOrQuestion => protocolRejected("NO_BOARD", `No game was created: ${reason}`);

const wantsBuiltIn = (reply: CallerAnswer): boolean =>
  reply.kind === "form" && reply.action === "accept" && reply.content.go_on === true;

const sourceIn = (reply: CallerAnswer, offered: readonly Source[]): Source | null =>
  offered.find((source) => reply.kind === "form" && reply.content.source === source) ?? null;

const GameReport = z.object({
  status: z.enum(["active", "completed", "ended"]),
  winner: z.enum(["red", "blue"]).nullable(),
  reason: z.string().nullable(),
  game_id: z.string(),
  game_token: z.string().describe("keep it: continue_game, end_game and the resources accept it"),
  turns: z.int(),
  board: z.string().describe("the public view of the board as text"),
  history: z.string(),
});
type GameReport = z.infer<typeof GameReport>;

/** The report of a game to the caller that runs it. */
function reportOf(director: Director, sessionId: string): GameReport {
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
}

/** The report as text. */
function reportContent(value: GameReport | { readonly status: "no_game" }) {
  if (value.status === "no_game")
    return { content: [{ type: "text" as const, text: "No game of Codenames was open." }] };
  const { status, board, history, game_token } = value as GameReport;
  // The last line of a completed board repeats the headline.
  const shownBoard = status === "completed" ? board.split("\n").slice(0, -1).join("\n") : board;
  const token = status === "active" ? `game_token: ${game_token}` : "";
  const text = [headline(value as GameReport), shownBoard, history, token].filter(Boolean).join("\n\n");
  return { content: [{ type: "text" as const, text }] };
}

function headline({ status, winner, reason }: GameReport): string {
  switch (status) {
    case "active":
      return "The game continues.";
    case "completed":
      return `The game is over: ${endInWords({ winner, reason } as NonNullable<CodenamesView["result"]>)}.`;
    case "ended":
      return reason === "ended_by_user"
        ? "The game was ended before it was over."
        : `The game was ended (${spoken(reason ?? "")}).`;
  }
}

const NAMES = ["game://state/board", "game://state/history", "game://context/current-role"] as const;
const TEXTS = {
  "game://state/board": {
    name: "Codenames: board",
    description: "The words of the game and the uncovered cards, in the public view.",
  },
  "game://state/history": { name: "Codenames: history", description: "The clues and guesses of the game." },
  "game://context/current-role": {
    name: "Codenames: current role",
    description:
      "The role that is to act and its view. It contains the key only while a person who plays a spymaster is to act.",
  },
} as const;

/** The resources of the game of the caller, and the templates for the game whose token is the last part of the URI. */
export function codenamesResources(director: Director): {
  resources: readonly Resource[];
  templates: readonly ResourceTemplate[];
} {
  const content = (uri: (typeof NAMES)[number], game: LedGame | null): object | null => {
    if (!game) return null;
    const session = director.session(game.sessionId);
    const { tick, status } = session;
    const { state, board } = publicBoard(session);
    const view = state as CodenamesView;
    const summary = { game_id: game.sessionId, status, tick, phase: view.phase, turn: view.turn };
    switch (uri) {
      case "game://state/board":
        return { ...summary, ...view, board };
      case "game://state/history":
        return { ...summary, turns: view.turns, text: history(view) };
      case "game://context/current-role": {
        const role = driverView(session).toAct[0] ?? null;
        const type = role === null ? null : (game.players[role] ?? null);
        // A model that plays a spymaster receives the key only in its prompt.
        const shown = role !== null && type === "user" ? seatView(session, role) : { state, board };
        return { ...summary, role, player_type: type, view: shown.state, board: shown.board };
      }
    }
  };
  const none = {
    open: false,
    message: "There is no game of Codenames for this caller: append /{game_token} to the URI, or call create_new_game",
  };
  return {
    resources: NAMES.map((uri) => ({
      uri,
      ...TEXTS[uri],
      read: (http) => content(uri, director.gameOf(undefined, asCaller(http))) ?? none,
    })),
    templates: NAMES.map((uri) => ({
      uriTemplate: `${uri}/{game_token}`,
      ...TEXTS[uri],
      read: ({ game_token = "" }) => content(uri, director.gameOf(game_token, ANONYMOUS)),
    })),
  };
}

/** The resources that an action in a game of Codenames has changed. */
export const codenamesChanged = (token: string): readonly string[] => NAMES.flatMap((uri) => [uri, `${uri}/${token}`]);

const ANONYMOUS: Caller = { sender: null, authToken: null, remoteAddress: "" };

const asCaller = ({ bearer, remoteAddress, sessionId }: HttpContext): Caller => ({
  sender: null,
  authToken: bearer,
  remoteAddress,
  sessionId,
});
