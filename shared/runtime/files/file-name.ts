import { sha256Hex } from "../../lib/hash.ts";

/** What common file systems take, less what is put around a name. */
const MAX_BYTES = 200;
const HASH_CHARACTERS = 16;

/** A name for people as the name of a file: another name gives another file, however long both are. */
export function fileNameOf(name: string): string {
  const encoded = encodeURIComponent(name);
  if (encoded.length <= MAX_BYTES) return encoded;
  return `${encoded.slice(0, MAX_BYTES - HASH_CHARACTERS - 1)}-${sha256Hex(name).slice(0, HASH_CHARACTERS)}`;
}
