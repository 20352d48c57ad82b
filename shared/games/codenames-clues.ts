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

/** What is wrong with a clue's word, given the words that are still covered; null when it may be given. */
export function clueFault(word: string, covered: readonly string[]): string | null {
  if (!/^(\p{L}\p{M}*)+$/u.test(word) || !isSeen(word)) return "a clue is one word of letters";
  if ([...word].length > MAX_LETTERS) return `a clue has at most ${MAX_LETTERS} letters`;
  const said = fold(word);
  const alike = covered.find((one) => fold(one).includes(said) || said.includes(fold(one)));
  return alike === undefined ? null : `the clue ${word} is, contains or is part of ${alike}, a word on the board`;
}

const SAMPLE = ["ANIMAL", "TRAVEL", "MUSIC", "WEATHER", "METAL", "SPORT", "HISTORY", "KINGDOM", "COLOUR", "MACHINE"];
const SAMPLED = 4;

/** Some clues that may be given, the same ones for the same board: there are as many as there are words. */
export function sampleClues(covered: readonly string[]): readonly { readonly word: string; readonly number: number }[] {
  // Of 26 words made of one letter each, 25 cards can spoil 25 at the most.
  const strange = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (letter) => letter.repeat(MAX_LETTERS));
  const fitting: string[] = [];
  for (const word of [...SAMPLE, ...strange]) {
    if (fitting.length < SAMPLED && clueFault(word, covered) === null) fitting.push(word);
  }
  return fitting.flatMap((word) => [1, 2].map((number) => ({ word, number })));
}
