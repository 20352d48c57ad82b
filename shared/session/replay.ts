import { findGame } from "../games/registry.ts";
import { sha256Hex } from "../lib/hash.ts";
import { chainHash, GENESIS } from "../lib/hash-chain.ts";
import { err, messageOf, ok, type Result } from "../lib/result.ts";
import { type Entry, type LogRow, parseEntry } from "./entry.ts";
import { evolve, evolveCreated, type Session } from "./session.ts";

/** Where a log stops being sound, and why. */
export interface ReplayFault {
  readonly seq: number;
  readonly message: string;
}

/**
 * Folds a log back into its session, anywhere and at any time.
 * Checks the chain (sequence, previous hash, hash of the stored text), the seed against its commitment and every action by
 * the game's rules; the first thing that does not hold is returned with its place. `onStep` is told the session after each entry.
 */
export function replay(
  rows: readonly LogRow[],
  seed: string,
  onStep?: (session: Session, seq: number) => void,
): Result<Session, ReplayFault> {
  let session: Session | null = null;
  let prevHash = GENESIS;
  for (const [index, row] of rows.entries()) {
    const fault = (message: string) => err({ seq: index, message });
    if (row.seq !== index) return fault(`sequence number ${row.seq}, expected ${index}`);
    if (row.prev_hash !== prevHash) return fault("previous hash does not match");
    if (row.hash !== chainHash(prevHash, row.body)) return fault("hash does not match the entry");
    prevHash = row.hash;
    try {
      const entry = parseEntry(row.body);
      if (entry.type !== row.type) return fault(`type ${row.type} stored for an entry ${entry.type}`);
      session = session === null ? begin(entry, seed) : evolve(session, entry);
      if (session.id !== row.session_id) return fault(`row of session ${row.session_id} in the log of ${session.id}`);
      onStep?.(session, index);
    } catch (thrown) {
      return fault(messageOf(thrown));
    }
  }
  return session === null ? err({ seq: 0, message: "the log is empty" }) : ok(session);
}

function begin(entry: Entry, seed: string): Session {
  if (entry.type !== "created") throw new Error(`the first entry is ${entry.type}, not created`);
  const game = findGame(entry.game);
  if (!game) throw new Error(`unknown game ${entry.game}`);
  if (sha256Hex(seed) !== entry.seed_commitment) throw new Error("the seed does not match its commitment");
  return evolveCreated(game, entry, seed);
}
