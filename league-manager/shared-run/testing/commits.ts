import { systemIds } from "#shared/lib/ids.ts";
import type { MatchJob } from "../../match-queue.ts";
import type { LaterCommits, NewCommit, RunDatabase } from "../run-database.ts";

export const AT = "2026-01-01T00:00:00.000Z";

/** Returns a commit with a new id. It is empty except for the given changes. */
export const commitOf = (changes: Partial<NewCommit> = {}): NewCommit => ({
  id: systemIds.uuid(),
  at: AT,
  appends: [],
  writes: [],
  jobs: { added: [], ended: [] },
  ...changes,
});

/** Returns an append of events with the given texts. */
export const appendTo = (stream: string, expectedVersion: number, ...texts: string[]) => ({
  stream,
  expectedVersion,
  events: texts.map((text) => ({ type: "noted", body: JSON.stringify({ text }) })),
});

/** Commits without a condition. Returns the commits after `after` that the decision was based on. */
export async function commitTo(database: RunDatabase, changes: Partial<NewCommit>, after = 0): Promise<LaterCommits> {
  let seen: LaterCommits | null = null;
  await database.transact(after, (later) => {
    seen = later;
    return commitOf(changes);
  });
  if (!seen) throw new Error("decide was not called");
  return seen;
}

export const texts = ({ events }: LaterCommits): string[] =>
  events.map(({ stream, seq, body }) => `${stream} ${seq} ${(JSON.parse(body) as { text: string }).text}`);

export const versionIn = ({ events }: LaterCommits, stream: string): number =>
  events.filter((event) => event.stream === stream).length;

export const job = (matchId: string, epoch = 1): MatchJob => ({ leagueId: "l", matchId, epoch });

export const profileOf = (agentId: string, name = agentId) => ({
  ...({ type: "profile", agentId } as const),
  profile: { name, salt: "s", endpoint: `http://${agentId}`, tokenHash: `hash of ${agentId}` },
});

/** Resolves at the first call of the function that is passed to `listen`. The listener is then removed. */
export const firstCall = (listen: (done: () => void) => () => void): Promise<void> =>
  new Promise((resolve) => {
    const remove = listen(() => {
      remove();
      resolve();
    });
  });

/** Calls the database until it answers. A manager does the same: it tries again after DatabaseUnavailable. */
export async function untilAvailable(database: RunDatabase): Promise<void> {
  for (;;) {
    try {
      await database.transact(0, () => null);
      return;
    } catch (thrown) {
      if (!(thrown instanceof Error) || thrown.name !== "DatabaseUnavailable") throw thrown;
    }
  }
}
