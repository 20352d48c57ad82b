import { chainHash, GENESIS, type RecordedEvent, sha256Hex } from "#shared/lib/hash.ts";
import { findGame } from "../games/registry.ts";
import { isInstant } from "../lib/clock.ts";
import { err, messageOf, ok, type Result } from "../lib/result.ts";
import { type Entry, parseEntry } from "./entry.ts";
import { evolve, evolveCreated, type Session } from "./session.ts";

/** The first invalid entry of a log. `seq` is its sequence number, which begins at 0. */
interface ReplayFault {
  readonly seq: number;
  readonly message: string;
}

/** A session with the hash of its last entry. */
interface Replayed {
  readonly session: Session;
  readonly head: string;
}

/**
 * Folds stored rows into their session. Checks the hash chain (sequence numbers, previous hashes, hashes of the stored
 * texts), the commitment of the seed, and every action against the rules of the game. Calls `onStep` with the session
 * after each entry. Returns the session, or the first fault with its sequence number.
 */
export function replay(
  rows: readonly RecordedEvent[],
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
      session = next(session, entry, seed);
      if (session.id !== row.stream) return fault(`row of session ${row.stream} in the log of ${session.id}`);
      onStep?.(session, index);
    } catch (thrown) {
      return fault(messageOf(thrown));
    }
  }
  return session === null ? EMPTY : ok(session);
}

/**
 * Folds the texts of a log's entries, as a result message carries them, into their session, and computes the hash of
 * the last entry. Checks the seed and the rules as `replay` does, and the format of the times. The texts carry no
 * hashes: the caller compares the computed hash with the reported one. Calls `onStep` with the session after each entry.
 */
export function replayTexts(
  texts: readonly string[],
  seed: string,
  onStep?: (session: Session, entry: Entry) => void,
): Result<Replayed, ReplayFault> {
  let session: Session | null = null;
  let head = GENESIS;
  for (const [index, text] of texts.entries()) {
    head = chainHash(head, text);
    try {
      const entry = timedEntry(text);
      session = next(session, entry, seed);
      onStep?.(session, entry);
    } catch (thrown) {
      return err({ seq: index, message: messageOf(thrown) });
    }
  }
  return session === null ? EMPTY : ok({ session, head });
}

const EMPTY = err({ seq: 0, message: "the log is empty" });

/** Parses an entry and checks its time. Other referees may format JSON and times differently from this program. */
function timedEntry(text: string): Entry {
  const entry = parseEntry(text);
  if (!isInstant(entry.at)) throw new Error("its time is not ISO 8601 with a time zone");
  return entry;
}

/**
 * Returns the session after an entry of its log; `session` is null before the first entry. Throws if the entry cannot
 * follow.
 */
const next = (session: Session | null, entry: Entry, seed: string): Session =>
  session === null ? begin(entry, seed) : evolve(session, entry);

function begin(entry: Entry, seed: string): Session {
  if (entry.type !== "created") throw new Error(`the first entry is ${entry.type}, not created`);
  const game = findGame(entry.game);
  if (!game) throw new Error(`unknown game ${entry.game}`);
  if (sha256Hex(seed) !== entry.seed_commitment) throw new Error("the seed does not match its commitment");
  return evolveCreated(game, entry, seed);
}
