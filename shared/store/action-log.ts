import type { LogRow } from "../session/entry.ts";
import type { Statement } from "./group-commit.ts";

/** Who sits where in a new session; a seat's agent is made with it when it does not exist yet. */
export interface Seat {
  readonly role: string;
  readonly agentId: string;
  /** SHA-256 of the seat's token, lowercase hex; tokens themselves are never stored. */
  readonly tokenHash: string;
}

/**
 * The fold of a session that is kept beside its log, for readers of the database; the log is the truth. It costs more than the
 * entry itself, so the host writes it at the end and now and then before.
 */
export interface Snapshot {
  readonly state: string;
  readonly status: "active" | "completed";
  readonly tick: number;
}

/** Who may do what with a session besides its seats' own agents; fixed when it is created. */
export interface Access {
  /** `driver`: actions come from the match driver alone, and it never expires. `seats`: each seat's agent acts by itself. */
  readonly actedBy: "driver" | "seats";
  /** `public`: any agent may watch what a spectator may see. */
  readonly spectators: "none" | "public";
}

export interface NewSession extends Access {
  readonly sessionId: string;
  /** Game id, the source document's `template`. */
  readonly template: string;
  /** Kept secret until the session has ended. */
  readonly seed: string;
  readonly seats: readonly Seat[];
}

/**
 * The append-only log of sessions. Every implementation passes `contract.test.ts`:
 * - `create` and `append` resolve only after their row is committed to disk, and reject without a trace otherwise;
 * - rows of a session have unique, gapless sequence numbers; a row that would break this is refused;
 * - appends made in one turn of the event loop share a transaction, and a bad row fails alone;
 * - nothing ever updates, deletes or replaces a row.
 */
export interface ActionLog {
  /** `alongside` writes what must be there if and only if the session is, in the same transaction. */
  create(session: NewSession, first: LogRow, snapshot: Snapshot, alongside?: readonly Statement[]): Promise<void>;
  /** With a snapshot where one is due, and with what must be there if and only if the row is. */
  append(row: LogRow, snapshot: Snapshot | null, alongside?: readonly Statement[]): Promise<void>;
  /** The committed rows of a session in order; empty for an unknown session. */
  read(sessionId: string): readonly LogRow[];
  /** The seed of a session, for the host alone, and who has access; null for an unknown session. */
  about(sessionId: string): (Access & { readonly seed: string }) | null;
  /** Active sessions that are acted by their seats whose last entry with a snapshot was made before `before`, milliseconds since the epoch. */
  quietSince(before: number): readonly string[];
}
