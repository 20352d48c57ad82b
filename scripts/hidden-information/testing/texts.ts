const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g;
/** Tokens, signatures and derived seeds. */
const TOKEN = /(?<![\w-])[\w-]{43}(?![\w-])/g;
const ADDRESS = /127\.0\.0\.1:\d+/g;
const HASH = /\b[0-9a-f]{64}\b/g;

/** A text without the ids, tokens, times and ports that differ from game to game. Nothing else may differ. */
export const plain = (text: string): string =>
  text.replace(UUID, "ID").replace(TOKEN, "TOKEN").replace(TIME, "TIME").replace(ADDRESS, "ADDRESS");

/** A text without hashes: of random ids, or of the seeds of several runs. */
export const withoutHashes = (text: string): string => text.replace(HASH, "HASH");

/** True if texts, one for each world, differ in more than ids, tokens, times and ports. */
export const differ = (texts: readonly string[]): boolean => new Set(texts.map(plain)).size > 1;

/** Lines in an order that does not depend on what differs from game to game. */
export function inSteadyOrder(lines: readonly string[]): string {
  const sorted = lines
    .map((line) => ({ line, key: withoutHashes(plain(line)) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  return sorted.map(({ line }) => line).join("\n");
}
