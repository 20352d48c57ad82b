import { latinLook } from "./look-alikes.ts";
import { areForms, englishWord, isCompoundWith } from "./word-forms.ts";

/** In capitals and with one way to write each letter; once more changes nothing. */
export const upper = (text: string): string => text.trim().toUpperCase().normalize("NFC");

/**
 * Case, accents and form aside: "Café", "CAFE" and "ＣＡＦＥ" are one word, and so are "Straße" and "STRASSE".
 * To lower case and back because "ẞ" and "ß" meet there, "ß" and "SS" above.
 */
export const fold = (text: string): string =>
  upper(text)
    .normalize("NFKD")
    .replace(/[\p{M}\s'’-]/gu, "")
    .toLowerCase()
    .toUpperCase();

/** Some letters show nothing: with one in it a word on the board looks like another word, or like none. */
export const isSeen = (word: string): boolean => fold(word) !== "" && !/\p{Default_Ignorable_Code_Point}/u.test(word);

const MAX_LETTERS = 30;

/**
 * Which clues a word on the board forbids. A session's options name the version, and a log without one is of the first:
 * 1. a clue may not be, contain or be contained in a covered word, letter by letter;
 * 2. it may not be a covered word, also in letters that look alike, nor a form, a part or a compound of one.
 */
export const clueRules = [1, 2] as const;
export type ClueRule = (typeof clueRules)[number];
export const CURRENT_CLUE_RULE: ClueRule = 2;

/** What is wrong with a clue's word, given the words that are still covered; null when it may be given. */
export function clueFault(word: string, covered: readonly string[], rule: ClueRule): string | null {
  if (!/^(\p{L}\p{M}*)+$/u.test(word) || !isSeen(word)) return "a clue is one word of letters";
  if ([...word].length > MAX_LETTERS) return `a clue has at most ${MAX_LETTERS} letters`;
  const relationTo = rule === 1 ? relationByLetters(word) : relationByWords(word);
  for (const one of covered) {
    const relation = relationTo(one);
    if (relation !== null) return `the clue ${word} ${relation} ${one}, a word on the board`;
  }
  return null;
}

function relationByLetters(clue: string): (word: string) => string | null {
  const said = fold(clue);
  return (word) => (fold(word).includes(said) || said.includes(fold(word)) ? "is, contains or is part of" : null);
}

/** How a clue is related to a word of the board by the second rule; null when it is not. */
function relationByWords(clue: string): (word: string) => string | null {
  const folded = fold(clue);
  const said = englishWord(latinLook(folded));
  return (word) => {
    const whole = latinLook(fold(word));
    if (said.text === whole) return folded === fold(word) ? "is" : "looks like";
    const parts = word.split(/[\s'’-]+/u).map((part) => latinLook(fold(part)));
    if (parts.includes(said.text)) return "is part of";
    for (const one of new Set([...parts, whole])) {
      const part = englishWord(one);
      if (areForms(said, part)) return "is a form of";
      if (isCompoundWith(said, part)) return "is a compound of";
      if (isCompoundWith(part, said)) return "is part of";
    }
    return null;
  };
}

const SAMPLE = ["ANIMAL", "TRAVEL", "MUSIC", "WEATHER", "METAL", "SPORT", "HISTORY", "KINGDOM", "COLOUR", "MACHINE"];
const SAMPLED = 4;

/** Some clues that may be given, the same ones for the same board: there are as many as there are words. */
export function sampleClues(
  covered: readonly string[],
  rule: ClueRule,
): readonly { readonly word: string; readonly number: number }[] {
  // Of 26 words made of one letter each, 25 cards can spoil 25 at the most.
  const strange = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (letter) => letter.repeat(MAX_LETTERS));
  const fitting: string[] = [];
  for (const word of [...SAMPLE, ...strange]) {
    if (fitting.length < SAMPLED && clueFault(word, covered, rule) === null) fitting.push(word);
  }
  return fitting.flatMap((word) => [1, 2].map((number) => ({ word, number })));
}
