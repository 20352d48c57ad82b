import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** Returns the texts as they appear in a log: plain, and as a part of a JSON string. */
const spellingsOf = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]).filter((text) => text !== "")),
];

/** One mention: its position in a file, in bytes. */
interface Mention {
  readonly from: number;
  readonly length: number;
}

/** Finds texts in a file as whole words, so that the name "Ann" is not found in "Annual". */
function mentionsIn(bytes: Buffer, texts: readonly string[]): readonly Mention[] {
  return spellingsOf(texts).flatMap((spelling) => {
    const word = Buffer.from(spelling);
    const found: Mention[] = [];
    for (let from = bytes.indexOf(word); from >= 0; from = bytes.indexOf(word, from + word.length)) {
      const to = from + word.length;
      const before = bytes.subarray(Math.max(0, from - MAX_CHARACTER_BYTES), from).toString("utf8");
      const after = bytes.subarray(to, to + MAX_CHARACTER_BYTES).toString("utf8");
      const isPart =
        (LETTER_AT_END.test(before) && LETTER.test(spelling)) || (LETTER.test(after) && LETTER_AT_END.test(spelling));
      if (!isPart) found.push({ from, length: word.length });
    }
    return found;
  });
}

/** The length of the longest character in UTF-8. */
const MAX_CHARACTER_BYTES = 4;
const LETTER = /^[\p{L}\p{M}\p{N}]/u;
const LETTER_AT_END = /[\p{L}\p{M}\p{N}]$/u;

/** Returns how often a file mentions texts. */
export const countMentions = (file: string, texts: readonly string[]): number =>
  mentionsIn(readFileSync(file), texts).length;

/**
 * Overwrites each mention of texts in a file with asterisks. The file keeps its length, so that a process can append to it at the same time. Returns
 * the number of mentions.
 */
export function redactMentions(file: string, texts: readonly string[]): number {
  const mentions = mentionsIn(readFileSync(file), texts);
  if (mentions.length === 0) return 0;
  const opened = openSync(file, "r+");
  try {
    for (const { from, length } of mentions) writeSync(opened, Buffer.alloc(length, "*"), 0, length, from);
  } finally {
    closeSync(opened);
  }
  return mentions.length;
}
