import { readAfterCommit } from "#shared/store/postgres/log-statements.ts";
import type { Profile } from "../agents/agent.ts";
import type { News } from "../shared-run/run-database.ts";
import type { RunTransaction } from "./run-transaction.ts";

/** Reads the news after a commit. All statements must see the same commits: the transaction has the lock of the run, or one snapshot. */
export async function readNews(transaction: RunTransaction, after: number): Promise<News> {
  const [newest, events, changes] = await Promise.all([
    transaction.query(SELECT_NUMBER, []),
    readAfterCommit(transaction, after),
    transaction.query(SELECT_PROFILES, [after]),
  ]);
  const number = Number(newest.rows[0]?.number ?? 0);
  return { number, events, profiles: new Map((changes.rows as unknown as ChangedProfile[]).map(changedProfile)) };
}

type ChangedProfile = { readonly agentId: string } & { readonly [Key in keyof Profile]: Profile[Key] | null };

function changedProfile({ agentId, name, salt, endpoint, tokenHash }: ChangedProfile): [string, Profile | null] {
  const isErased = name === null || salt === null || endpoint === null || tokenHash === null;
  return [agentId, isErased ? null : { name, salt, endpoint, tokenHash }];
}

const SELECT_NUMBER = "SELECT number FROM commits ORDER BY number DESC LIMIT 1";
/** The planner uses the index if there are two limits, even without statistics. */
const SELECT_PROFILES = `
  SELECT agent_id AS "agentId", display_name AS name, salt, endpoint, token_hash AS "tokenHash"
  FROM profile_changes LEFT JOIN profiles USING (agent_id) LEFT JOIN tokens USING (agent_id)
  WHERE commit_number > $1 AND commit_number <= (SELECT max(number) FROM commits)`;
