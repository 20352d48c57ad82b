import { isDeepStrictEqual } from "node:util";
import type { Game, Role } from "#shared/games/game.ts";
import { explainIllegal, readMove, wordOf } from "#shared/games/move-text.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import type { Completion } from "#shared/rpc/llm/completions.ts";

/** The reasons why an answer of a model is not an action. */
export const answerFaults = ["refusal", "no_action", "truncated", "illegal_move"] as const;

interface AnswerFault {
  readonly cause: (typeof answerFaults)[number];
  readonly detail: string;
}

/** The turn for which an answer is read. */
interface AnsweredTurn {
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
  const named = namedAction(answer.text.slice(-MAX_SEARCHED_CHARACTERS), turn);
  if (named !== undefined) return ok(named);
  return err({
    cause: "no_action",
    detail: answer.text === "" ? "the answer is empty" : "the answer contains no action",
  });
}

/** The content of the last box of LaTeX, without a command for its font. */
const BOXED = /\\boxed\s*\{\s*(?:\\(?:text|mathrm|mathbf|texttt)\s*\{)?([^{}]*)\}/g;
/** A sentence that names the action at its end or before further words, such as "I choose e4 because …" and "Move: e4". */
const STATEMENT =
  /(?:^|[.!?:;,]\s)[ \t]*(?:I(?:['’]ll| will| would)? (?:choose|play|pick|select|go with)|(?:(?:my|the|final|best|chosen) )*(?:action|answer|choice|move)(?: is\b|\s*[:=]))[:\s]*(?=([^\r\n]{1,200}))/gim;
/** The maximum number of words of an action in a sentence. */
const MAX_WORDS = 4;

/** Returns the action in the last box of a text, or the only action that its sentences state; undefined if there is none or they state several. */
function namedAction(text: string, turn: AnsweredTurn): unknown {
  const [, boxed] = [...text.matchAll(BOXED)].at(-1) ?? [];
  if (boxed !== undefined) return legalIn(boxed, turn);
  const stated = [...text.replaceAll(/[*_`]/g, "").matchAll(STATEMENT)].map(([, rest = ""]) => actionAt(rest, turn));
  const [first] = stated;
  return stated.every((one) => isDeepStrictEqual(one, first)) ? first : undefined;
}

/** Returns the legal action with which a text begins, of several the longest; undefined if there is none. */
function actionAt(text: string, turn: AnsweredTurn): unknown {
  const words = text.trim().split(/\s+/).slice(0, MAX_WORDS);
  for (let count = words.length; count > 0; count--) {
    const written = words
      .slice(0, count)
      .join(" ")
      .replace(/[.,;:!]+$/, "");
    const action = legalIn(written, turn);
    if (action !== undefined) return action;
  }
  return undefined;
}

function legalIn(written: string, turn: AnsweredTurn): unknown {
  const action = readAction(written, turn);
  return turn.legal.find((legal) => isDeepStrictEqual(legal, action));
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
