import { BOARD_SIZE, codenames } from "#shared/games/codenames.ts";
import { type CodenamesState, type CodenamesView, skipInWords } from "#shared/games/codenames-view.ts";
import type { Role } from "#shared/games/game.ts";
import type { CallerQuestion } from "#shared/rpc/jsonrpc/caller-input.ts";
import { FORMATS } from "./answers.ts";
import type { Pending, PlayerType, Stage } from "./flow.ts";

const NUMBERS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "unlimited"] as const;
/** Enough for a short answer. An answer with reasoning is cut off. */
const MAX_TOKENS = 500;
const MAX_TOKENS_FOR_WORDS = 1_000;

/** Returns the question to a role. It is made from the view of that role only. */
export function questionFor(
  view: CodenamesView,
  role: Role,
  type: PlayerType,
  pending: Pending,
  link: string | null,
): CallerQuestion {
  const { stage, problem, attempt } = pending;
  const wrong = problem === null ? [] : [`Your last answer was rejected (now attempt ${attempt}): ${problem}`];
  const situation = [
    ...wrong,
    `You are ${spoken(role)}.`,
    codenames.toText(view as CodenamesState, role),
    history(view),
  ].filter(Boolean);
  if (type === "llm") {
    return {
      kind: "prompt",
      system: codenames.info.rules,
      text: [
        ...situation,
        TASKS[stage],
        `Answer only with JSON, without other text: ${FORMATS[stage as keyof typeof FORMATS]}`,
      ].join("\n\n"),
      maxTokens: MAX_TOKENS,
    };
  }
  const page = stage === "clue" && link ? [`You can also answer on this page: ${link}`] : [];
  return { kind: "form", message: [...situation, ...page, TASKS[stage]].join("\n\n"), fields: fieldsFor(view, stage) };
}

const TASKS: Readonly<Record<Stage, string>> = {
  clue: "Give your team a clue: one word, and the number of words on the board that it refers to (0 and unlimited allow any number of guesses).",
  guess: "Guess one word.",
  continue: "That was right. Do you want to guess another word, or to stop here?",
  leave: "You have left the form. Do you want to continue the game?",
};

function fieldsFor({ cards }: CodenamesView, stage: Stage): Extract<CallerQuestion, { kind: "form" }>["fields"] {
  switch (stage) {
    case "clue":
      return { word: { type: "string", title: "Clue" }, number: { type: "string", title: "Number", enum: NUMBERS } };
    case "guess":
      return {
        word: {
          type: "string",
          title: "Your guess",
          enum: cards.flatMap(({ word, uncovered }) => (uncovered ? [] : [word])),
        },
      };
    case "continue":
      return { go_on: { type: "boolean", title: "Guess again", description: "no: your turn ends here" } };
    case "leave":
      return { go_on: { type: "boolean", title: "Continue the game", description: "no: the game ends" } };
  }
}

/** The turns so far as text. */
export function history({ turns }: Pick<CodenamesView, "turns">): string {
  const lines = turns.flatMap(({ team, clue, guesses, skipped }) => {
    const clueText = clue ? `${clue.word} ${clue.number}` : "no clue";
    const found = guesses.map(({ word, identity }) => `${word} was ${identity}`).join(", ");
    return clue || skipped !== null
      ? [
          `${team}: ${clueText}${found && ` – ${found}`}${skipped === null ? "" : ` – turn given up (${skipInWords[skipped]})`}`,
        ]
      : [];
  });
  return lines.length === 0 ? "" : `So far:\n${lines.join("\n")}`;
}

const spoken = (role: Role): string => {
  const [team, part] = role.split("_", 2);
  return part === "spymaster" ? `the spymaster of team ${team}` : `the guessing team ${team}`;
};

export const sources = ["built-in", "own", "llm"] as const;
export type Source = (typeof sources)[number];

const SOURCE_TEXTS: Readonly<Record<Source, string>> = {
  "built-in": "chosen from the list of this server",
  own: "you enter them",
  llm: "the model chooses them",
};

/** The question about the source of the words. */
export const askForSource = (offered: readonly Source[], problem: string | null): CallerQuestion => ({
  kind: "form",
  message: [
    ...(problem === null ? [] : [problem]),
    `Which ${BOARD_SIZE} words should be used? ${offered.map((source) => `${source}: ${SOURCE_TEXTS[source]}`).join("; ")}.`,
  ].join("\n\n"),
  fields: { source: { type: "string", title: "Words", enum: offered } },
});

/** The question whether to play with the built-in words after the words of a person could not be used. */
export const askForBuiltIn = (problem: string): CallerQuestion => ({
  kind: "form",
  message: `Your own words cannot be used: ${problem}.\n\nDo you want to play with the built-in words?`,
  fields: { go_on: { type: "boolean", title: "Play with the built-in words", description: "no: no game is created" } },
});

/** The question for the words, to a person or to the model. */
export const askForWords = (by: "own" | "llm", problem: string | null): CallerQuestion =>
  by === "own"
    ? {
        kind: "form",
        message: [problem, `Enter ${BOARD_SIZE} words, separated by commas.`].filter(Boolean).join("\n\n"),
        fields: { words: { type: "string", title: "Words" } },
      }
    : {
        kind: "prompt",
        system: "You choose the words for a game of Codenames.",
        text: [
          problem && `Your last answer was rejected: ${problem}`,
          `Give ${BOARD_SIZE} different common nouns, each one word, concrete and well known. Answer only with a JSON array of strings, without other text.`,
        ]
          .filter(Boolean)
          .join("\n\n"),
        maxTokens: MAX_TOKENS_FOR_WORDS,
      };
