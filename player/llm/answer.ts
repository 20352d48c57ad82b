import { isDeepStrictEqual } from "node:util";
import type { Game, Role } from "#shared/games/game.ts";
import { explainIllegal, readMove, wordOf } from "#shared/games/read-move.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import type { Completion } from "#shared/rpc/llm/completion.ts";

/** The reasons why an answer of a model is not an action. */
export const answerFaults = ["refusal", "no_action", "truncated", "illegal_move"] as const;

export interface AnswerFault {
  readonly cause: (typeof answerFaults)[number];
  readonly detail: string;
}

/** The turn for which an answer is read. */
export interface AnsweredTurn {
  readonly game: Game;
  readonly view: unknown;
  readonly role: Role;
  readonly legal: readonly unknown[];
  /** Masks the API key in a text that is shown. */
  readonly mask: (text: string) => string;
}

const MAX_SEARCHED_CHARACTERS = 100_000;
const MAX_BARE_CHARACTERS = 100;
const MAX_SHOWN_CHARACTERS = 80;

/**
 * Returns the action in an answer, or the reason why it has none. If the list of legal actions is only a sample, the referee decides whether another
 * action of the right form is legal.
 */
export function actionIn(answer: Completion, turn: AnsweredTurn): Result<unknown, AnswerFault> {
  const { game } = turn;
  const object = objectIn(answer.text);
  if (object !== null) {
    const action = readAction(object.action, turn);
    if (isPlayable(action, turn)) return ok(action);
    const shown = cutTo(MAX_SHOWN_CHARACTERS, inOneLine(turn.mask(wordOf(action, game))));
    const reason = explainIllegal(game, turn.view, object.action);
    const detail = `illegal move: ${shown}${reason === null ? "" : ` (${turn.mask(reason)})`}`;
    return err({ cause: "illegal_move", detail });
  }
  // Some models answer with the action alone.
  const bare = answer.text.length <= MAX_BARE_CHARACTERS ? readAction(answer.text, turn) : null;
  if (turn.legal.some((legal) => isDeepStrictEqual(legal, bare))) return ok(bare);
  if (answer.refusal !== null) return err({ cause: "refusal", detail: "the model refused to answer" });
  if (answer.isCutOff) return err({ cause: "truncated", detail: "the answer was cut off at the limit of tokens" });
  return err({
    cause: "no_action",
    detail: answer.text === "" ? "the answer is empty" : "the answer contains no action",
  });
}

function readAction(move: unknown, { game, view, role }: AnsweredTurn): unknown {
  if (typeof move === "string") return readMove(game, view, role, move);
  const parsed = game.action.safeParse(move);
  return parsed.success ? parsed.data : move;
}

function isPlayable(action: unknown, { game, legal }: AnsweredTurn): boolean {
  if (legal.some((one) => isDeepStrictEqual(one, action))) return true;
  const parsed = game.info.listsSample ? game.action.safeParse(action) : null;
  return parsed?.success === true && game.isDriverAction?.(parsed.data) !== true;
}

/** Returns the last JSON object with an action in a text, which may be surrounded by other text; null if there is none. */
function objectIn(text: string): { readonly action: unknown } | null {
  const searched = text.slice(-MAX_SEARCHED_CHARACTERS);
  const end = searched.lastIndexOf("}") + 1;
  const starts = [...searched.slice(0, end).matchAll(/\{/g)].map(({ index }) => index);
  for (const start of [...starts.slice(0, 20), ...starts.slice(20).slice(-20)]) {
    const value = parsedJson(searched.slice(start, end));
    if (typeof value === "object" && value !== null && "action" in value) return value;
  }
  return null;
}
