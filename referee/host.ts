import type { Game, Role } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { newSessionId } from "#shared/lib/ids.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import type { Fault, LogRow } from "#shared/session/entry.ts";
import { sealEntry } from "#shared/session/entry.ts";
import { replay } from "#shared/session/replay.ts";
import { type Command, create, type Decision, decide, type Refusal, type Session } from "#shared/session/session.ts";
import type { ActionLog, Seat, Snapshot } from "#shared/store/action-log.ts";
import type { Statement } from "#shared/store/group-commit.ts";

export interface NewSessionOptions {
  readonly game: Game;
  /** Parsed by the game. */
  readonly options: unknown;
  readonly seed: string;
  readonly seats: readonly Seat[];
  /** Writes what belongs to the session, in its transaction. */
  readonly alongside?: (sessionId: string) => readonly Statement[];
}

/** A session with its log, as committed. */
export interface Kept {
  readonly session: Session;
  readonly rows: readonly LogRow[];
}

/**
 * The session host: the only writer of session logs, and the one door behind match driver, REST, MCP and browser.
 * What it returns has been committed; what it refuses has changed nothing.
 */
export interface SessionHost {
  create(options: NewSessionOptions): Promise<Session>;
  /** The committed session, from memory or replayed from its log; null when there is none. */
  read(sessionId: string): Kept | null;
  submit(
    sessionId: string,
    role: Role,
    action: unknown,
    expectedTick: number | null,
  ): Promise<Result<Session, Refusal | NotFound>>;
  /** Ends a session for the faults of one turn together. */
  forfeit(sessionId: string, faults: readonly Fault[]): Promise<Result<Session, Refusal | NotFound>>;
  /** Ends a session through no fault of its players. */
  abort(sessionId: string, reason: string): Promise<Result<Session, Refusal | NotFound>>;
  /** The seed of a session that has ended; null while it runs. */
  revealedSeed(sessionId: string): string | null;
}

export interface NotFound {
  readonly code: "NOT_FOUND";
  readonly message: string;
}

/** `pending` is what the next decision builds on; `session` is what readers see: the last state that is on disk. */
interface Live {
  session: Session;
  readonly rows: LogRow[];
  pending: { readonly session: Session; readonly head: LogRow };
  /** When the database's copy of the state was last written, milliseconds. */
  snapshotAt: number;
}

/** While a session is played its copy in the database is at most this much older than its last action. */
const SNAPSHOT_EVERY_MS = 1_000;

export function createHost(log: ActionLog, clock: Clock): SessionHost {
  const live = new Map<string, Live>();

  const find = (sessionId: string): Live | null => {
    const known = live.get(sessionId);
    if (known) return known;
    const rows = [...log.read(sessionId)];
    const head = rows.at(-1);
    const seed = log.seedOf(sessionId);
    if (!head || seed === null) return null;
    const replayed = replay(rows, seed);
    if (!replayed.ok)
      throw new Error(`log of session ${sessionId}, entry ${replayed.error.seq}: ${replayed.error.message}`);
    const loaded: Live = { session: replayed.value, rows, pending: { session: replayed.value, head }, snapshotAt: 0 };
    live.set(sessionId, loaded);
    return loaded;
  };

  const run = async (sessionId: string, command: Command): Promise<Result<Session, Refusal | NotFound>> => {
    const found = find(sessionId);
    if (!found) return err({ code: "NOT_FOUND", message: "No such session" });
    const decision = decide(found.pending.session, command, clock.iso());
    if (!decision.ok) return decision;
    const { entry, next } = decision.value;
    const row = sealEntry(sessionId, found.pending.head, entry);
    found.pending = { session: next, head: row };
    try {
      await log.append(row, dueSnapshot(found, next, clock.now()));
    } catch (thrown) {
      // Whatever was decided on top of the lost entry is void too: the session is read again from its log.
      live.delete(sessionId);
      throw new Error(`session ${sessionId}: the log did not take an entry: ${messageOf(thrown)}`);
    }
    found.session = next;
    found.rows.push(row);
    return ok(next);
  };

  return {
    async create({ game, options, seed, seats, alongside }) {
      const participants = Object.fromEntries(seats.map((seat) => [seat.role, seat.agentId]));
      const id = newSessionId();
      const { entry, next }: Decision = create({ id, game, options, participants, seed, at: clock.iso() });
      const row = sealEntry(id, null, entry);
      await log.create({ sessionId: id, template: game.id, seed, seats }, row, snapshotOf(next), alongside?.(id));
      live.set(id, { session: next, rows: [row], pending: { session: next, head: row }, snapshotAt: clock.now() });
      return next;
    },
    read(sessionId) {
      const found = find(sessionId);
      return found && { session: found.session, rows: found.rows };
    },
    async submit(sessionId, role, action, expectedTick) {
      return run(sessionId, { type: "act", role, action, expectedTick });
    },
    forfeit: (sessionId, faults) => run(sessionId, { type: "forfeit", faults }),
    abort: (sessionId, reason) => run(sessionId, { type: "abort", reason }),
    revealedSeed(sessionId) {
      const found = find(sessionId);
      return found?.session.status === "completed" ? log.seedOf(sessionId) : null;
    },
  };
}

function dueSnapshot(live: Live, next: Session, now: number): Snapshot | null {
  if (next.status === "active" && now - live.snapshotAt < SNAPSHOT_EVERY_MS) return null;
  live.snapshotAt = now;
  return snapshotOf(next);
}

const snapshotOf = (session: Session): Snapshot => ({
  state: JSON.stringify(session.state),
  status: session.status,
  tick: session.tick,
});
