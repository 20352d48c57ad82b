import type { Clock } from "#shared/lib/clock.ts";
import { counted } from "#shared/lib/text.ts";
import type { Member } from "../shared-run/run-database.ts";
import type { Departure } from "./departures.ts";

interface MemberNoticeOptions {
  readonly self: Member;
  /** Returns the known managers, with this one. */
  readonly members: () => readonly Member[];
  /** Returns whether this manager reaches the database. If not, it does not know which managers work. */
  readonly isFresh: () => boolean;
  readonly clock: Pick<Clock, "every" | "monotonic">;
  /** Sends a line for people, e.g. to the terminal. */
  readonly notice: (message: string) => void;
}

/** Sends a line when another manager starts, stops, or no longer answers. */
export interface MemberNotices {
  /** Records why a manager is about to leave the known ones. */
  onDeparture(managerId: string, departure: Departure): void;
  stop(): void;
}

const CHECK_MS = 1_000;
/**
 * The time for which this manager must reach the database before it compares the managers. After a failure of the database the managers send their first
 * heartbeats at different times, and the heartbeat of the former process of a manager counts for five seconds.
 */
const SETTLE_MS = 6_000;

const WHY: Readonly<Record<Departure, string>> = { stopped: "has stopped", refused: "accepts no connections" };
const SILENT = "has not reported for 5 s";

/** Starts the notices. The first one says how many managers work. Managers are compared by their addresses, because a manager that starts again has another id. */
export function watchMembers({ self, members, isFresh, clock, notice }: MemberNoticeOptions): MemberNotices {
  /** The other managers at the last comparison, by address; null before the first one. */
  let known: ReadonlyMap<string, Member> | null = null;
  /** The addresses of managers that worked earlier. */
  const former = new Set<string>();
  const departures = new Map<string, Departure>();
  let freshSince: number | null = null;

  const compare = (): void => {
    const others = members().filter(({ managerId }) => managerId !== self.managerId);
    const current = new Map(others.map((member) => [member.url, member]));
    const before = known;
    known = current;
    const work = `${counted(current.size + 1, "manager")} ${current.size === 0 ? "works" : "work"}`;
    if (before === null) notice(`${work} on this database: ${[self.url, ...current.keys()].join(", ")}`);
    for (const [url, { managerId }] of before ?? []) {
      if (current.has(url)) continue;
      const departure = departures.get(managerId);
      former.add(url);
      notice(`the manager at ${url} ${departure ? WHY[departure] : SILENT}; ${work}`);
    }
    for (const url of current.keys()) {
      if (before === null || before.has(url)) continue;
      const event = former.delete(url) ? `the manager at ${url} works again` : `another manager works at ${url}`;
      notice(`${event}; ${work}`);
    }
    const ids = new Set(others.map(({ managerId }) => managerId));
    for (const managerId of departures.keys()) if (!ids.has(managerId)) departures.delete(managerId);
  };

  const stop = clock.every(CHECK_MS, () => {
    if (!isFresh()) {
      freshSince = null;
      return;
    }
    freshSince ??= clock.monotonic();
    if (clock.monotonic() - freshSince >= SETTLE_MS) compare();
  });
  return {
    onDeparture(managerId, departure) {
      // A manager that has stopped also refuses connections.
      if (departures.get(managerId) !== "stopped") departures.set(managerId, departure);
    },
    stop,
  };
}
