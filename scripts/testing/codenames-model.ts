import { type Behaviour, type ChatRequest, sendCompletion } from "#shared/rpc/testing/chat-endpoint.ts";

/** Plays Codenames legally: always the same clue, guesses of the first covered word that is not the assassin, and a further guess whenever it is asked. */
export const playLegally: Behaviour = ({ messages }, response, _, requests) =>
  sendCompletion(response, answerTo(messages.at(-1)?.content ?? "", assassinIn(requests)));

/** Returns the assassin word of the latest key in the prompts; empty before the first key. */
export function assassinIn(requests: readonly ChatRequest[]): string {
  const texts = requests.map(({ messages }) => messages.at(-1)?.content ?? "");
  return texts.map((text) => /(\w+) \(assassin\)/.exec(text)?.[1]).findLast((word) => word !== undefined) ?? "";
}

/** 25 words that are not in the word lists of Codenames. */
export const WORDS: readonly string[] = Array.from(
  { length: 25 },
  (_, index) => `WORD${String.fromCharCode(65 + index)}`,
);

function answerTo(text: string, assassin: string): string {
  if (text.includes("Give 25 different common nouns")) return JSON.stringify(WORDS);
  if (text.includes('{"clue"')) return '{"clue": "ZXQWV", "number": 1}';
  if (text.includes('{"continue"')) return '{"continue": true}';
  return JSON.stringify({ guess: coveredWord(text, assassin) });
}

/** Returns the first covered word of the board that is not the assassin. The board shows uncovered words in brackets. */
function coveredWord(text: string, assassin: string): string {
  const words = text.match(/\[[^\]]*\]|[A-Z]{2,}(?: [A-Z]+)*/gu) ?? [];
  return words.find((word) => !word.startsWith("[") && word !== assassin) ?? "";
}
