import type { Game, Role } from "#shared/games/game.ts";
import { listName, wordOf } from "#shared/games/move-text.ts";
import type { AnswerFormat } from "#shared/rpc/llm/answer-format.ts";

/** The version of the texts in this file. Raise it with each change of a text or of the format, because records name the version of their prompts. */
export const PROMPT_VERSION = 1;

/** The schema is the same for every turn and game, because endpoints compile each schema, which takes seconds. */
export const ANSWER_FORMAT: AnswerFormat = {
  name: "play",
  description: "Plays an action in the match.",
  schema: {
    type: "object",
    properties: {
      reason: { type: "string", description: "why, in at most two sentences" },
      action: { type: "string", description: "the action, as it is written in the list of legal moves" },
    },
    required: ["reason", "action"],
    additionalProperties: false,
  },
};

const FORM = '{"reason": "why, in at most two sentences", "action": "the action"}';

/** The maximum number of legal actions in a prompt. A chess position has at most 218. */
const MAX_LISTED = 250;

/** Returns the first prompt of every turn of a match. */
export const systemPrompt = ({ info }: Game, options: unknown, role: Role): string =>
  [
    `You play a match of ${info.name} as the role ${role}. Play to win.`,
    `Rules: ${info.rules}`,
    `Options of this match: ${JSON.stringify(options)}`,
    `Answer with one JSON object and nothing else: ${FORM}`,
  ].join("\n\n");

/** Returns the prompt of a turn. It is computed from the view of the role alone. */
export function turnPrompt(game: Game, view: unknown, role: Role, legal: readonly unknown[]): string {
  const listed = legal.slice(0, MAX_LISTED).map((action) => wordOf(action, game));
  const more = legal.length > MAX_LISTED ? `, and ${legal.length - MAX_LISTED} more, in the form of the rules` : "";
  return `${game.toText(view, role)}\n\n${listName(game)}: ${listed.join(", ")}${more}\n\nChoose the action of ${role}.`;
}

/** Returns the prompt after an answer that was not accepted. */
export const retryPrompt = (reason: string): string =>
  `Your answer was not accepted: ${reason}. Answer with one JSON object and nothing else: ${FORM}`;
