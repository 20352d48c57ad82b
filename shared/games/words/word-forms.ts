import { memoized } from "../../lib/memoized.ts";
import { WORDS } from "./codenames-words.ts";
import { compoundingWords, irregularBases, unrelatedWords } from "./english-families.ts";

/** An English word in capitals with the bases of which it may be a form. The word itself is the first base. */
interface Word {
  readonly text: string;
  readonly bases: readonly string[];
}

/**
 * Returns whether two words are forms of one word: plurals, tenses, degrees, and words with common endings (WHALER,
 * FARMER, BREAKAGE), by the rules of spelling and the table of irregular words. Meanings are not considered.
 */
export const areForms = (a: Word, b: Word): boolean => b.bases.some((base) => a.bases.includes(base));

/**
 * Returns whether a word is a compound that contains another word: SNOWSHOE and SHOE. The other part must be a word
 * that forms compounds, so CARPET is not a compound of CAR.
 */
export function isCompoundWith({ bases }: Word, { text: part }: Word): boolean {
  if (part.length < SHORTEST) return false;
  return bases.some((base) => {
    if (base.length < part.length + SHORTEST || unrelatedWords().has(base)) return false;
    const isCompoundPart = (rest: string): boolean =>
      makesCompounds(rest) || (rest.startsWith("S") && makesCompounds(rest.slice(1)));
    return (
      (base.startsWith(part) && isCompoundPart(base.slice(part.length))) ||
      (base.endsWith(part) && isCompoundPart(base.slice(0, -part.length)))
    );
  });
}

/** The length of the shortest word that is searched for in another word. */
const SHORTEST = 3;
/** The length of the shortest base of a derived word. With three letters HAM would be a base of HAMMER. */
const SHORTEST_DERIVED = 4;

/** Endings of inflected forms, and of derived words. */
const INFLECTIONS = ["ED", "ING"];
const DERIVATIONS = [
  "ER",
  "EST",
  "OR",
  "IST",
  "IAN",
  "Y",
  "ISH",
  "ABLE",
  "AGE",
  "ERY",
  "EN",
  "LY",
  "NESS",
  "FUL",
  "LESS",
  "OUS",
  "MENT",
  "DOM",
  "SHIP",
  "HOOD",
];

const builtIn = memoized((): ReadonlySet<string> => new Set(WORDS));
const makesCompounds = (word: string): boolean =>
  word.length >= SHORTEST && (compoundingWords().has(word) || builtIn().has(word));

/** Returns a word with its possible bases. */
export function englishWord(text: string): Word {
  const regular = unrelatedWords().has(text) ? [] : [...plurals(text), ...endings(text)];
  return {
    text,
    bases: [...new Set([text, ...regular].flatMap((base) => [base, ...(irregularBases().get(base) ?? [])]))],
  };
}

/** Returns the possible singulars of a plural. The third person of a verb has the same ending. */
function plurals(word: string): string[] {
  const found: string[] = [];
  if (/[^S]S$/.test(word)) found.push(word.slice(0, -1));
  if (/(?:[SXZO]|CH|SH)ES$/.test(word)) found.push(word.slice(0, -2));
  if (word.endsWith("IES")) found.push(`${word.slice(0, -3)}Y`);
  if (word.endsWith("VES")) found.push(`${word.slice(0, -3)}F`, `${word.slice(0, -3)}FE`);
  if (word.endsWith("MEN")) found.push(`${word.slice(0, -3)}MAN`);
  return found.filter((base) => base.length >= SHORTEST);
}

/** Returns the possible bases of a word with one of the endings. */
function endings(word: string): string[] {
  const basesBefore = (ending: string, minLength: number): string[] =>
    word.endsWith(ending)
      ? rootsOf(word.slice(0, -ending.length), ending).filter((root) => root.length >= minLength)
      : [];
  return [
    ...INFLECTIONS.flatMap((ending) => basesBefore(ending, SHORTEST)),
    ...DERIVATIONS.flatMap((ending) => basesBefore(ending, SHORTEST_DERIVED)),
    ...(word.endsWith("YING") && word.length >= 5 ? [`${word.slice(0, -4)}IE`] : []),
    ...(word.endsWith("AN") && word.length > SHORTEST_DERIVED ? [word.slice(0, -1)] : []), // AMERICAN has the base AMERICA
  ];
}

/**
 * Returns the words that have the form `root` before an ending: STOP for STOPP, BAKE for BAK, HAPPY for HAPPI, and the
 * root itself if spelling does not change it.
 */
function rootsOf(root: string, ending: string): string[] {
  const isBeforeVowel = /^[AEIOUY]/.test(ending);
  const found = isBeforeVowel && doublesLastLetter(root) ? [] : [root];
  if (isBeforeVowel && /[AEIOUY]([^AEIOUWXY])\1$/.test(root)) found.push(root.slice(0, -1));
  if (isBeforeVowel && ending !== "EN" && /[^AO]$/.test(root)) found.push(`${root}E`);
  if (ending !== "ING" && ending !== "Y" && root.endsWith("I")) found.push(`${root.slice(0, -1)}Y`);
  return found;
}

/**
 * Returns whether a word has one syllable and doubles its last letter before a vowel: STOP becomes STOPPED, so STOPED
 * belongs to STOPE.
 */
const doublesLastLetter = (word: string): boolean => /^(?:QU|[^AEIOU])*[AEIOU][^AEIOUWXY]$/.test(word);
