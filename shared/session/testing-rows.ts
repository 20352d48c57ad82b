import { chainHash, GENESIS } from "../lib/hash-chain.ts";
import { type LogRow, parseEntry } from "./entry.ts";

/** The rows of a session from the texts of its entries. Throws on text that is not an entry. */
export function rowsOf(session_id: string, texts: readonly string[]): LogRow[] {
  const rows: LogRow[] = [];
  for (const body of texts) {
    const prev_hash = rows.at(-1)?.hash ?? GENESIS;
    const { type } = parseEntry(body);
    rows.push({ session_id, seq: rows.length, type, body, prev_hash, hash: chainHash(prev_hash, body) });
  }
  return rows;
}
