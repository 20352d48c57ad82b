import type { Pool } from "pg";
import { inTransaction } from "#shared/store/postgres/connection.ts";
import { readCommits } from "#shared/store/postgres/postgres-event-log.ts";
import type { Profile } from "../agents/agent.ts";
import type { LaterCommits } from "../shared-run/run-database.ts";
import { type RunTransaction, transactionOn } from "./run-transaction.ts";

/**
 * The maximum number of commits of one read. A manager that was stopped for minutes may be hundreds of thousands of commits behind, each with up to
 * hundreds of events. A read of all would exceed the time limit of a statement.
 */
export const COMMITS_OF_A_READ = 1_000;

/** A range of commits. `number` is the last one of the range. */
export interface CommitsPart extends LaterCommits {
  /** Whether the range contains the newest commit. */
  readonly isLast: boolean;
}

/** Reads the first commits after a commit. All statements must see the same commits: the transaction has the lock of the run, or one snapshot. */
export async function readPart(transaction: RunTransaction, after: number, maxCommits: number): Promise<CommitsPart> {
  const end = after + maxCommits;
  const [newest, events, changes] = await Promise.all([
    transaction.query(SELECT_NUMBER, []),
    readCommits(transaction, after, end),
    transaction.query(SELECT_PROFILES, [after, end]),
  ]);
  const number = Number(newest.rows[0]?.number ?? 0);
  const profiles = new Map((changes.rows as unknown as ChangedProfile[]).map(changedProfile));
  return { number: Math.min(number, end), events, profiles, isLast: number <= end };
}

/** Reads all commits after a commit, in parts. Each part is read in a transaction of one snapshot. */
export async function readParts(pool: Pool, after: number, maxCommits: number): Promise<readonly CommitsPart[]> {
  const parts: CommitsPart[] = [];
  for (let from = after; ; ) {
    const part = await inTransaction(pool, (client) => readPart(transactionOn(client), from, maxCommits), ONE_MOMENT);
    parts.push(part);
    if (part.isLast) return parts;
    from = part.number;
  }
}

/**
 * Joins parts that follow each other. The profile of an agent is in the part of its last change, so the last part must have been read up to the newest
 * commit.
 */
export const joinParts = (parts: readonly CommitsPart[]): LaterCommits => ({
  number: parts.at(-1)?.number ?? 0,
  events: parts.flatMap(({ events }) => events),
  profiles: new Map(parts.flatMap(({ profiles }) => [...profiles])),
});

type ChangedProfile = { readonly agentId: string } & { readonly [Key in keyof Profile]: Profile[Key] | null };

function changedProfile({ agentId, name, salt, endpoint, tokenHash }: ChangedProfile): [string, Profile | null] {
  const isErased = name === null || salt === null || endpoint === null || tokenHash === null;
  return [agentId, isErased ? null : { name, salt, endpoint, tokenHash }];
}

/** All statements of the transaction see the commits of one moment. */
const ONE_MOMENT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const SELECT_NUMBER = "SELECT number FROM commits ORDER BY number DESC LIMIT 1";
/** With two limits the planner uses the index, even without statistics. */
const SELECT_PROFILES = `
  SELECT agent_id AS "agentId", display_name AS name, salt, endpoint, token_hash AS "tokenHash"
  FROM profile_changes LEFT JOIN profiles USING (agent_id) LEFT JOIN tokens USING (agent_id)
  WHERE commit_number > $1 AND commit_number <= $2`;
