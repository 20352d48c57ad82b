import { BUILT_IN_BOTS } from "#shared/games/built-in-bots.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { VERSION } from "#shared/runtime/program.ts";

const VERSION_IN_TEXT = new RegExp(`(?<![\\d.])${VERSION.replaceAll(".", "\\.")}(?![\\d.]|-)`, "g");

/** The hashes of the built-in bots, which contain the version of the program (`player/bot-hash.ts`). */
const BOT_HASHES = Object.keys(BUILT_IN_BOTS).map(
  (name) => [sha256Hex(`built-in bot ${name} ${VERSION}`), `<hash of ${name}>`] as const,
);

/** Replaces the version of the program and the hashes of built-in bots, which depend on it. */
export function withoutVersion(text: string): string {
  let masked = text.replaceAll(VERSION_IN_TEXT, "<version>");
  for (const [hash, name] of BOT_HASHES) masked = masked.replaceAll(hash, name);
  return masked;
}
