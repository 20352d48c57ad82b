import { chainHash, GENESIS } from "#shared/lib/hash.ts";
import { type Command, create, decide, type Session, type SessionSetup } from "#shared/session/session.ts";
import type { Entry } from "../entry.ts";

interface PlayedSession {
  readonly session: Session;
  readonly entries: readonly Entry[];
  /** The stored texts of the entries. */
  readonly log: string[];
  /** The hash of the last entry. */
  readonly head: string;
}

/** Plays commands in a new session, all of them at the time `setup.at`. Throws if the session rejects a command. */
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

/** Returns the command for an action of a role, without an expected tick. */
export const act = (role: string, action: unknown): Command => ({ type: "act", role, action, expectedTick: null });
