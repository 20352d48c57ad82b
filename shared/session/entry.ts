import { z } from "zod";
import "../lib/schema-messages.ts";
import { chainHash, GENESIS } from "../lib/hash-chain.ts";

export const faultCauses = [
  "refused",
  "timeout",
  "http_error",
  "bad_json",
  "bad_reply",
  "too_large",
  "illegal_move",
  "declined",
  "resigned",
] as const;
export type FaultCause = (typeof faultCauses)[number];

const Fault = z.object({
  role: z.string(),
  /** G001 INVALID_MOVE or G002 TIMEOUT; absent for a resignation, which is no error. */
  code: z.enum(["G001", "G002"]).optional(),
  cause: z.enum(faultCauses),
  detail: z.string(),
  /** What the player answered, cut to 2 kB, tokens removed. */
  raw: z.string().optional(),
});
/** Why a role failed its turn; the cause is for machines, the detail for people. */
export type Fault = Readonly<z.infer<typeof Fault>>;

const tick = z.int().min(0);
const at = z.string();
const Entry = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("created"),
    session_id: z.string(),
    game: z.string(),
    options: z.unknown(),
    /** Role to agent. */
    participants: z.record(z.string(), z.string()),
    /** SHA-256 of the seed string; the seed itself is told when the session has ended. */
    seed_commitment: z.string(),
    at,
  }),
  z.object({ type: z.literal("acted"), tick, role: z.string(), agent: z.string(), action: z.unknown(), at }),
  z.object({ type: z.literal("forfeited"), tick, faults: z.array(Fault).min(1).readonly(), at }),
  z.object({ type: z.literal("aborted"), tick, reason: z.string(), at }),
  z.object({ type: z.literal("expired"), tick, at }),
]);
/** What a session's log holds, in the order it happened. `at` is ISO 8601 UTC. */
export type Entry = Readonly<z.infer<typeof Entry>>;

/** Reads a stored entry; throws on text that is none. */
export const parseEntry = (body: string): Entry => Entry.parse(JSON.parse(body));

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

/** Turns the next entry of a session into a row behind `prev` (null for the first). */
export const sealEntry = (sessionId: string, prev: LogRow | null, entry: Entry): LogRow =>
  chained(sessionId, prev, entry.type, JSON.stringify(entry));

/** Rebuilds the rows of a session from the texts of its entries, as a result message carries them; throws on text that is no entry. */
export function rowsOf(sessionId: string, bodies: readonly string[]): LogRow[] {
  const rows: LogRow[] = [];
  for (const body of bodies) {
    rows.push(chained(sessionId, rows.at(-1) ?? null, parseEntry(body).type, body));
  }
  return rows;
}

function chained(sessionId: string, prev: LogRow | null, type: Entry["type"], body: string): LogRow {
  const prevHash = prev?.hash ?? GENESIS;
  const seq = prev === null ? 0 : prev.seq + 1;
  return { session_id: sessionId, seq, type, body, prev_hash: prevHash, hash: chainHash(prevHash, body) };
}
