import { z } from "zod";
import type { CallerAnswer } from "#shared/rpc/jsonrpc/caller-input.ts";
import type { AnswerOrQuestion, Caller } from "#shared/rpc/mcp/operations.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import { wordsIn } from "./answers.ts";
import { MAX_ATTEMPTS } from "./flow.ts";
import { askForBuiltIn, askForSource, askForWords, type Source, sources } from "./questions.ts";

/**
 * The state of create_new_game before the board exists. It is sent with each question. All rounds of one call have the same id, so that a
 * repetition of the last round does not create a second game.
 */
export const Setup = z.object({
  setup: z.enum(["source", "own", "llm", "fallback"]),
  attempt: z.int(),
  id: z.string(),
});
export type Setup = z.infer<typeof Setup>;

/** A rejected answer about the words. */
interface RejectedWords {
  readonly setup: Setup["setup"];
  readonly attempt: number;
  readonly problem: string;
}

const BUILT_IN = { words: null };

/** Returns the words of a new board, null for the built-in ones, or the next question about them. */
export function wordsFor(
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
