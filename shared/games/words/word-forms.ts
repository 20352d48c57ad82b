import { memoized } from "../../lib/lazily.ts";
import { WORDS } from "./codenames-words.ts";
import { compoundingWords, irregularBases, unrelatedWords } from "./english-families.ts";

/** An English word in capitals, with all that it may be a form of, itself first. */
interface Word {
  readonly text: string;
  readonly bases: readonly string[];
}

/**
 * Whether two words are forms of one word: its plural, its other tenses, its degrees, what its common endings make of it (WHALER, FARMER, BREAKAGE), by the
 * rules of spelling and the table of irregular words. Meaning is not looked at.
 */
export const areForms = (one: Word, other: Word): boolean => other.bases.some((base) => one.bases.includes(base));

/** Whether a word is a compound with another in it: SNOWSHOE and SHOE. The rest of it must be a word that makes compounds, so CARPET is none with CAR. */
export function isCompoundWith({ bases }: Word, { text: part }: Word): boolean {
  if (part.length < SHORTEST) return false;
  return bases.some((base) => {
    if (base.length < part.length + SHORTEST || unrelatedWords().has(base)) return false;
    const isMade = (rest: string): boolean =>
      makesCompounds(rest) || (rest.startsWith("S") && makesCompounds(rest.slice(1)));
    return (
      (base.startsWith(part) && isMade(base.slice(part.length))) ||
      (base.endsWith(part) && isMade(base.slice(0, -part.length)))
    );
  });
}

/** Letters of the shortest word that is looked for in another. */
const SHORTEST = 3;
/** Letters of the shortest base before an ending that makes another kind of word; with three HAM would be a base of HAMMER. */
const SHORTEST_DERIVED = 4;

/** Endings of the same word, and those that make another kind of word of it. */
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

export function englishWord(text: string): Word {
  const regular = unrelatedWords().has(text) ? [] : [...plurals(text), ...endings(text)];
  return {
    text,
    bases: [...new Set([text, ...regular].flatMap((base) => [base, ...(irregularBases().get(base) ?? [])]))],
  };
}

/** The singulars of a plural; the same ending is that of a verb's third person. */
function plurals(word: string): string[] {
  const found: string[] = [];
  if (/[^S]S$/.test(word)) found.push(word.slice(0, -1));
  if (/(?:[SXZO]|CH|SH)ES$/.test(word)) found.push(word.slice(0, -2));
  if (word.endsWith("IES")) found.push(`${word.slice(0, -3)}Y`);
  if (word.endsWith("VES")) found.push(`${word.slice(0, -3)}F`, `${word.slice(0, -3)}FE`);
  if (word.endsWith("MEN")) found.push(`${word.slice(0, -3)}MAN`);
  return found.filter((base) => base.length >= SHORTEST);
}

function endings(word: string): string[] {
  const before = (ending: string, least: number): string[] =>
    word.endsWith(ending) ? rootsOf(word.slice(0, -ending.length), ending).filter((root) => root.length >= least) : [];
  return [
    ...INFLECTIONS.flatMap((ending) => before(ending, SHORTEST)),
    ...DERIVATIONS.flatMap((ending) => before(ending, SHORTEST_DERIVED)),
    ...(word.endsWith("YING") && word.length >= 5 ? [`${word.slice(0, -4)}IE`] : []),
    ...(word.endsWith("AN") && word.length > SHORTEST_DERIVED ? [word.slice(0, -1)] : []), // AMERICAN of AMERICA
  ];
}

/** The words that become `root` before an ending: STOPP of STOP, BAK of BAKE, HAPPI of HAPPY, and the root itself where spelling leaves it alone. */
function rootsOf(root: string, ending: string): string[] {
  const beforeVowel = /^[AEIOUY]/.test(ending);
  const found = beforeVowel && doubles(root) ? [] : [root];
  if (beforeVowel && /[AEIOUY]([^AEIOUWXY])\1$/.test(root)) found.push(root.slice(0, -1));
  if (beforeVowel && ending !== "EN" && /[^AO]$/.test(root)) found.push(`${root}E`);
  if (ending !== "ING" && ending !== "Y" && root.endsWith("I")) found.push(`${root.slice(0, -1)}Y`);
  return found;
}

/** Whether a word has one syllable and doubles its last letter before a vowel: STOP becomes STOPPED, so STOPED is of STOPE. */
const doubles = (word: string): boolean => /^(?:QU|[^AEIOU])*[AEIOU][^AEIOUWXY]$/.test(word);
