import { hash } from "node:crypto";
import type { Clock } from "#shared/lib/clock.ts";
import { ignoreUnavailable, type Member, type RunDatabase } from "../shared-run/run-database.ts";

/**
 * The managers of a run, and the owner of each key. A key stands for a league, whose next steps its owner takes, or for the inbox of a player, which its
 * owner has.
 */
export interface Members {
  /**
   * Returns the owner of a key; null if no manager is known. While this manager does not reach the database, the owner is one of the managers that do.
   * If no manager does, it is one of the last known managers.
   */
  ownerOf(key: string): Member | null;
  /** Returns whether this manager owns a key. A manager that has not reached the database for four seconds owns none. */
  isMine(key: string): boolean;
  /** Returns whether this manager has reached the database in the last four seconds. */
  isFresh(): boolean;
  /** Returns the known managers, ordered by id. */
  all(): readonly Member[];
  /**
   * Removes a manager whose process seems to have ended, without waiting until its last heartbeat is five seconds old. A manager that still sends
   * heartbeats has its keys again after about six seconds. A manager that starts again has another id.
   */
  exclude(managerId: string): void;
  /** Adds a listener that is called when the owner of a key may have changed. */
  onChange(listener: () => void): () => void;
  /** Leaves the other managers, which then take over its keys at once. */
  stop(): Promise<void>;
}

interface MembersOptions {
  readonly database: Pick<RunDatabase, "heartbeat" | "leave">;
  readonly self: Member;
  readonly clock: Pick<Clock, "monotonic" | "after" | "pause">;
  /** Whether another manager answers and reaches the database. */
  readonly isReady: (member: Member) => Promise<boolean>;
}

const HEARTBEAT_MS = 1_000;
/** A manager whose last heartbeat is older owns no keys. The time is below the five seconds after which the others take over. */
const FRESH_MS = 4_000;
/** The duration of an exclusion. It is above the five seconds after which the heartbeats of a manager that has ended no longer count. */
const EXCLUDED_MS = 6_000;

/** Joins the members of a run. Resolves after the first heartbeat. Rejects with DatabaseUnavailable. */
export async function createMembers({ database, self, clock, isReady }: MembersOptions): Promise<Members> {
  const listeners = new Set<() => void>();
  const stopped = new AbortController();
  /** The members at the last heartbeat. */
  let known: readonly Member[] = [];
  /** The members among which keys are distributed: `known`, or those that are ready while this manager does not reach the database. */
  let view: readonly Member[] = [];
  /** The start of the last heartbeat that succeeded, on the monotonic clock. */
  let seenAtMs = Number.NEGATIVE_INFINITY;
  let cancelExpiry = (): void => {};
  const exclusions = new Exclusions();

  const isFresh = (): boolean => clock.monotonic() - seenAtMs < FRESH_MS;
  const notify = (): void => [...listeners].forEach((listener) => void listener());
  const setView = (next: readonly Member[], hasChanged: boolean): void => {
    const isSame = idsOf(next) === idsOf(view);
    view = next;
    if (hasChanged || !isSame) notify();
  };
  const beat = async (): Promise<void> => {
    const startedMs = clock.monotonic();
    const members = await database.heartbeat(self);
    if (stopped.signal.aborted) return;
    const wasFresh = isFresh();
    known = exclusions.without(members, startedMs); // only heartbeats after the end of an exclusion show that a manager works
    seenAtMs = startedMs;
    cancelExpiry();
    cancelExpiry = clock.after(seenAtMs + FRESH_MS - clock.monotonic(), notify);
    setView(known, !wasFresh);
  };
  /** Finds out which other managers reach the database. This manager has lost its keys to them. If none reaches it, each manager keeps its keys. */
  const askOthers = async (): Promise<void> => {
    const others = known.filter(({ managerId }) => managerId !== self.managerId);
    const answers = await Promise.all(others.map(isReady));
    if (isFresh() || stopped.signal.aborted) return;
    const ready = others.filter((_, index) => answers[index]);
    setView(ready.length > 0 ? ready : known, false);
  };
  await beat();
  // A heartbeat can take long while the database does not answer, so it does not delay the questions to the others.
  const loops = [
    repeat(clock, stopped.signal, () => beat().catch(ignoreUnavailable)),
    repeat(clock, stopped.signal, async () => {
      if (!isFresh()) await askOthers();
    }),
  ];
  return {
    ownerOf: (key) => ownerOf(key, view),
    isFresh,
    exclude(managerId) {
      const nowMs = clock.monotonic();
      if (managerId !== self.managerId) exclusions.add(managerId, nowMs + EXCLUDED_MS);
      known = exclusions.without(known, nowMs);
      setView(exclusions.without(view, nowMs), false);
    },
    isMine: (key) => isFresh() && ownerOf(key, view)?.managerId === self.managerId,
    all: () => view,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async stop() {
      stopped.abort();
      cancelExpiry();
      await Promise.all(loops);
      seenAtMs = Number.NEGATIVE_INFINITY;
      await database.leave(self.managerId).catch(ignoreUnavailable); // the others then take over after five seconds
    },
  };
}

/** The managers that are excluded, until a time of the monotonic clock. */
class Exclusions {
  readonly #endMs = new Map<string, number>();

  add(managerId: string, endMs: number): void {
    this.#endMs.set(managerId, endMs);
  }

  /** Returns the managers that are not excluded at a time, and forgets the exclusions that have ended. */
  without(members: readonly Member[], nowMs: number): readonly Member[] {
    for (const [managerId, endMs] of this.#endMs) if (endMs <= nowMs) this.#endMs.delete(managerId);
    return members.filter(({ managerId }) => !this.#endMs.has(managerId));
  }
}

const idsOf = (members: readonly Member[]): string => members.map(({ managerId }) => managerId).join();

async function repeat(clock: Pick<Clock, "pause">, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (await clock.pause(HEARTBEAT_MS, signal)) await work();
}

/**
 * Returns the owner of a key by rendezvous hashing: the member with the highest hash of key and id. All managers with the same members therefore find the
 * same owner without asking each other, and a member that joins or leaves moves only its own keys. Returns null without members.
 */
export function ownerOf<Member extends { readonly managerId: string }>(
  key: string,
  members: readonly Member[],
): Member | null {
  let owner: Member | null = null;
  let highest = "";
  for (const member of members) {
    const score = hash("sha256", `${member.managerId}\n${key}`, "hex");
    if (owner !== null && score <= highest) continue;
    owner = member;
    highest = score;
  }
  return owner;
}
