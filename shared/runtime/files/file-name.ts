import { sha256Hex } from "../../lib/hash.ts";

/** The length of names in common file systems, 255 bytes, less the text that is put around a name. */
const MAX_BYTES = 200;
const HASH_CHARACTERS = 16;

/**
 * Returns a file name for a display name. A long name is cut and ends with its hash, so that different names have
 * different file names.
 */
export function fileNameOf(name: string): string {
  const encoded = encodeURIComponent(name);
  if (encoded.length <= MAX_BYTES) return encoded;
  return `${encoded.slice(0, MAX_BYTES - HASH_CHARACTERS - 1)}-${sha256Hex(name).slice(0, HASH_CHARACTERS)}`;
}
