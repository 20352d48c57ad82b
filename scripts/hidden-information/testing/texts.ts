const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g;
/** Tokens, signatures and derived seeds. */
const TOKEN = /(?<![\w-])[\w-]{43}(?![\w-])/g;
const ADDRESS = /127\.0\.0\.1:\d+/g;
const HASH = /\b[0-9a-f]{64}\b/g;

/** Replaces the ids, tokens, times and ports of a text, which differ between games, by fixed words. */
export const plain = (text: string): string =>
  text.replace(UUID, "ID").replace(TOKEN, "TOKEN").replace(TIME, "TIME").replace(ADDRESS, "ADDRESS");

/** Replaces the hashes of a text by a fixed word. Hashes of random ids and of seeds differ between games. */
export const withoutHashes = (text: string): string => text.replace(HASH, "HASH");

/** Returns whether texts, one for each world, differ in more than ids, tokens, times and ports. */
export const differ = (texts: readonly string[]): boolean => new Set(texts.map(plain)).size > 1;

/** Sorts lines in an order that does not depend on ids, tokens, times, ports and hashes. */
export function inStableOrder(lines: readonly string[]): string {
  const sorted = lines
    .map((line) => ({ line, key: withoutHashes(plain(line)) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return sorted.map(({ line }) => line).join("\n");
}
