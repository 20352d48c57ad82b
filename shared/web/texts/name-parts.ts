/** The characters with a meaning in a regular expression. */
const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/** Splits a text into names and the texts between them. Of names that begin alike the longest one counts. */
export function nameParts(text: string, names: readonly string[]): readonly string[] {
  const longestFirst = names.filter((name) => name !== "").toSorted((one, other) => other.length - one.length);
  if (longestFirst.length === 0) return [text];
  const pattern = new RegExp(`(${longestFirst.map((name) => name.replaceAll(SYNTAX, "\\$&")).join("|")})`, "u");
  return text.split(pattern).filter((part) => part !== "");
}
