import { memoized } from "#shared/lib/memoized.ts";
import { areForms, englishWord, isCompoundWith } from "./codenames-word-forms.ts";

/** Returns a text in upper case, with one representation of each letter. Idempotent. */
export const upper = (text: string): string => text.trim().toUpperCase().normalize("NFC");

/**
 * Returns a text without case, accents, spaces, hyphens and apostrophes, with one form of each letter: "Café", "CAFE"
 * and "ＣＡＦＥ" are the same word, and so are "Straße" and "STRASSE". The text is converted to lower case and back because
 * "ẞ" and "ß" have the same lower case, and "ß" and "SS" the same upper case.
 */
export const fold = (text: string): string =>
  upper(text)
    .normalize("NFKD")
    .replace(/[\p{M}\s'’-]/gu, "")
    .toLowerCase()
    .toUpperCase();

/**
 * Returns whether all letters of a word are visible. With an invisible letter a word of the board could look like
 * another word, or like none.
 */
export const isVisible = (word: string): boolean =>
  fold(word) !== "" && !/\p{Default_Ignorable_Code_Point}/u.test(word);

const MAX_LETTERS = 30;

/**
 * The versions of the rule for clues. A session's options name the version; a log without a version has version 1.
 * - 1: a clue may not be, contain or be contained in a covered word, letter by letter;
 * - 2: a clue may not be a covered word, even in look-alike letters, nor a form, a part or a compound of one.
 */
export const clueRules = [1, 2] as const;
export type ClueRule = (typeof clueRules)[number];
export const CURRENT_CLUE_RULE: ClueRule = 2;

/** Returns the fault of a clue's word, given the covered words; null if the clue is legal. */
export function clueFault(word: string, covered: readonly string[], rule: ClueRule): string | null {
  if (!/^(\p{L}\p{M}*)+$/u.test(word) || !isVisible(word)) return "a clue is one word of letters";
  if ([...word].length > MAX_LETTERS) return `a clue has at most ${MAX_LETTERS} letters`;
  const relationTo = rule === 1 ? relationByLetters(word) : relationByWords(word);
  for (const boardWord of covered) {
    const relation = relationTo(boardWord);
    if (relation !== null) return `the clue ${word} ${relation} ${boardWord}, a word on the board`;
  }
  return null;
}

/** Returns a function that returns how a clue is related to a word of the board by version 1, or null. */
function relationByLetters(clue: string): (word: string) => string | null {
  const folded = fold(clue);
  return (word) => (fold(word).includes(folded) || folded.includes(fold(word)) ? "is, contains or is part of" : null);
}

/** Returns a function that returns how a clue is related to a word of the board by version 2, or null. */
function relationByWords(clue: string): (word: string) => string | null {
  const folded = fold(clue);
  const clueWord = englishWord(withLatinLetters(folded));
  return (word) => {
    const boardText = withLatinLetters(fold(word));
    if (clueWord.text === boardText) return folded === fold(word) ? "is" : "looks like";
    const parts = word.split(/[\s'’-]+/u).map((part) => withLatinLetters(fold(part)));
    if (parts.includes(clueWord.text)) return "is part of";
    for (const text of new Set([...parts, boardText])) {
      const part = englishWord(text);
      if (areForms(clueWord, part)) return "is a form of";
      if (isCompoundWith(clueWord, part)) return "is a compound of";
      if (isCompoundWith(part, clueWord)) return "is part of";
    }
    return null;
  };
}

const SAMPLE_WORDS = [
  "ANIMAL",
  "TRAVEL",
  "MUSIC",
  "WEATHER",
  "METAL",
  "SPORT",
  "HISTORY",
  "KINGDOM",
  "COLOUR",
  "MACHINE",
];
const SAMPLE_SIZE = 4;

/** Returns some legal clues, the same ones for the same board. There are as many legal clues as there are words. */
export function sampleClues(
  covered: readonly string[],
  rule: ClueRule,
): readonly { readonly word: string; readonly number: number }[] {
  // Of 26 words that repeat one letter, 25 cards can forbid at most 25.
  const repeatedLetters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (letter) => letter.repeat(MAX_LETTERS));
  const legal: string[] = [];
  for (const word of [...SAMPLE_WORDS, ...repeatedLetters]) {
    if (legal.length < SAMPLE_SIZE && clueFault(word, covered, rule) === null) legal.push(word);
  }
  return legal.flatMap((word) => [1, 2].map((number) => ({ word, number })));
}

/**
 * Letters that look like a capital letter of the Latin alphabet, in the form that `fold` returns, from Unicode's
 * confusables.txt (UTS 39, version 13), without right-to-left scripts and with small capitals. The table is frozen: it
 * belongs to version 2 of the rule for clues, so a change needs a new version.
 */
const ROWS: Readonly<Record<string, string>> = {
  A: "ΑАᎪᗅᴀꓮ𐊠𖽀",
  B: "ƁƂƄʙΒБВЬѢҌᏏᏴᑲᑳᒈᖯᗷꓐꞴ𐊂𐊡𐌁",
  C: "ƇСҪᏟᴄⲤꓚ𐊢𐌂𐐕𐔜",
  D: "ÐĐƉƊᎠᏧᑯᒇᗞᗪᴅꓒꓓ",
  E: "ɆΕЕᎬᴇⴹꓰꬲ𐊆𑢦𑢮",
  F: "ƑϜᖴᵮẝꓝꜰꞘꬵ𐊇𐊥𐔥𑢢",
  G: "ƍƓǤɢԌᏀᏳᶃꓖ",
  H: "ĦʜΗНҢӇӉᎻᏂᏲᕼⱧⲎꓧ𐋏",
  I: "ƖƗǀɭΙІӀᎥᛁᵻᵼⲒⵏꓲꞮ𐊊𐌉𖼨",
  J: "ɈͿЈᎫᒍᴊꓙꞲ",
  K: "ƘΚКҚҞᏦᛕᴋⱩⲔꓗꝀ𐔘",
  L: "ŁʟᏞᒪⳐꓡ𐐛𐔦𑢣𑢲𖼖",
  M: "ΜϺМӍᎷᗰᛖᴍⲘꓟ𐊰𐌑",
  N: "ƝɳɴΝᵰⲚꓠ𐔓",
  O: "ØƟΘΟОѲӨՕଠഠတဝዐᎤᎾᏫᴏᴑⲞⴱⵁⵔꓳꝊꬽꬾ𐊒𐊫𐐄𐓂𐔖𑢵",
  P: "ƤΡРᏢᑭᒆᴘⲢꓑ𐊕",
  Q: "ʠⵕ",
  R: "ƦɼᎡᏒᖇᴦᵲꓣꭇꭈ𐒴𖼵",
  S: "ЅՏᏕᏚᵴꓢꜱ𐊖𐐠𖼺",
  T: "ŦƬƮȾΤТҬᎢᵵⲦꓔ𐊗𐊱𐌕𑢼𖼊",
  U: "ɄՍሀᏌᑌᑧᴜᵾꓴꭎꭒ𐓎𑢸𖽂",
  V: "ѴᏙᐯᴠⴸꓦꛟ𐔝𑜆𑢠𖼈",
  W: "ԜᎳᏔᴡꓪ𑓅𑜊𑜎𑜏",
  X: "ΧХҲᕁᕽᚷⲬⵝꓫꞳ𐊐𐊴𐌗𐔧",
  Y: "ƳɎʏΥУҮҰᎩᎽᶌⲨꓬꭚ𐊲𑢤𖽃",
  Z: "ƵȤʐΖᏃᴢᵶꓜ𑢩",
  AE: "ÆӔ",
  OE: "Œ",
};

const latinOf = memoized(
  (): ReadonlyMap<string, string> =>
    new Map(
      Object.entries(ROWS).flatMap(([latin, letters]) => Array.from(letters, (letter) => [letter, latin] as const)),
    ),
);

/** Returns a folded text in which each letter that looks like a Latin letter is replaced by that letter. */
function withLatinLetters(folded: string): string {
  const latin = latinOf();
  return Array.from(folded, (letter) => latin.get(letter) ?? letter).join("");
}
