import { chainHash, GENESIS } from "../../lib/hash-chain.ts";
import type { Entry } from "../entry.ts";
import { type Command, create, decide, type Session, type SessionSetup } from "../session.ts";

interface PlayedSession {
  readonly session: Session;
  readonly entries: readonly Entry[];
  /** The entries' stored texts. */
  readonly log: string[];
  /** The hash of the last entry. */
  readonly head: string;
}

/** A session after these commands, all of them at `setup.at`. Throws when the session rejects one. */
export function playSession(setup: SessionSetup, commands: readonly Command[]): PlayedSession {
  const created = create(setup);
  const entries = [created.entry];
  let session = created.next;
  for (const command of commands) {
    const decided = decide(session, command, setup.at);
    if (!decided.ok) throw new Error(decided.error.message);
    entries.push(decided.value.entry);
    session = decided.value.next;
  }
  const log = entries.map((entry) => JSON.stringify(entry));
  return { session, entries, log, head: log.reduce(chainHash, GENESIS) };
}

/** An action of a role. */
export const act = (role: string, action: unknown): Command => ({ type: "act", role, action, expectedTick: null });
