import type { Role } from "../games/game.ts";
import { sha256Hex } from "../lib/hash.ts";

/** Why a role failed its turn; the cause is for machines, the detail for people. */
export interface Fault {
  readonly role: Role;
  /** G001 INVALID_MOVE or G002 TIMEOUT. */
  readonly code: "G001" | "G002";
  readonly cause: FaultCause;
  readonly detail: string;
  /** What the player answered, cut to 2 kB, tokens removed. */
  readonly raw?: string;
}

export const faultCauses = [
  "refused",
  "timeout",
  "http_error",
  "bad_json",
  "bad_reply",
  "too_large",
  "illegal_move",
  "declined",
] as const;
export type FaultCause = (typeof faultCauses)[number];

/** What a session's log holds, in the order it happened. `at` is ISO 8601 UTC. */
export type Entry =
  | {
      readonly type: "created";
      readonly session_id: string;
      readonly game: string;
      readonly options: unknown;
      readonly participants: Readonly<Record<Role, string>>;
      /** SHA-256 of the seed string; the seed itself is told when the session has ended. */
      readonly seed_commitment: string;
      readonly at: string;
    }
  | {
      readonly type: "acted";
      readonly tick: number;
      readonly role: Role;
      readonly agent: string;
      readonly action: unknown;
      readonly at: string;
    }
  | { readonly type: "forfeited"; readonly tick: number; readonly faults: readonly Fault[]; readonly at: string }
  | { readonly type: "aborted"; readonly tick: number; readonly reason: string; readonly at: string }
  | { readonly type: "expired"; readonly tick: number; readonly at: string };

/** An entry as it is stored: the exact text, chained to the one before it. */
export interface LogRow {
  readonly session_id: string;
  /** 0 for the `created` entry. */
  readonly seq: number;
  readonly type: Entry["type"];
  /** The entry as JSON text; hashes are of this text, never of a re-serialised copy. */
  readonly body: string;
  readonly prev_hash: string;
  readonly hash: string;
}

/** What the first entry is chained to. */
export const GENESIS = "0".repeat(64);

/** Hash of a row: SHA-256 over the previous hash, a newline and the entry's text. */
export const chainHash = (prevHash: string, body: string): string => sha256Hex(`${prevHash}\n${body}`);

/** Turns the next entry of a session into a row behind `prev` (null for the first). */
export const sealEntry = (sessionId: string, prev: LogRow | null, entry: Entry): LogRow =>
  chained(sessionId, prev, entry.type, JSON.stringify(entry));

/** Rebuilds the rows of a session from the texts of its entries, as a result message carries them; throws on text that is no entry. */
export function rowsOf(sessionId: string, bodies: readonly string[]): LogRow[] {
  const rows: LogRow[] = [];
  for (const body of bodies) {
    rows.push(chained(sessionId, rows.at(-1) ?? null, (JSON.parse(body) as Entry).type, body));
  }
  return rows;
}

function chained(sessionId: string, prev: LogRow | null, type: Entry["type"], body: string): LogRow {
  const prevHash = prev?.hash ?? GENESIS;
  const seq = prev === null ? 0 : prev.seq + 1;
  return { session_id: sessionId, seq, type, body, prev_hash: prevHash, hash: chainHash(prevHash, body) };
}
