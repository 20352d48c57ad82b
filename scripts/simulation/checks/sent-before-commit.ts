import type { Database } from "#shared/store/sqlite.ts";
import { isManager } from "../machines/names.ts";
import type { CheckedEnvelope } from "./envelopes.ts";
import type { Fault } from "./rules.ts";

const RESULT_OF_MANAGER = `SELECT 1 FROM log WHERE type IN ('match_completed', 'match_released', 'match_aborted')
  AND body ->> '$.match_id' = ? AND body ->> '$.epoch' = ?`;
const ASSIGNMENT = `SELECT 1 FROM log WHERE type = 'match_assigned' AND body ->> '$.match_id' = ? AND body ->> '$.epoch' = ?`;
const SESSION = "SELECT 1 FROM matches WHERE match_id = ? AND epoch = ?";
const ACTIONS = `SELECT 1 FROM matches JOIN sessions USING (session_id) JOIN log USING (stream)
  WHERE match_id = ? AND epoch = ? GROUP BY session_id HAVING sum(log.type = 'acted') >= ?`;
const LOG_HEAD = "SELECT 1 FROM log WHERE hash = ?";

/**
 * Returns a fault if a manager or referee has sent a message whose content was not yet committed in its database. `sent` is the message; if it is an
 * answer, `request` is its request.
 */
export function sentBeforeCommit(
  from: string,
  db: Database,
  sent: CheckedEnvelope,
  request: CheckedEnvelope | null,
): readonly Fault[] {
  const { type, payload } = sent;
  const { match_id, epoch } = { ...request?.payload, ...payload } as { match_id?: string; epoch?: number };
  const isStored = (sql: string, ...values: readonly unknown[]): boolean =>
    db.prepare(sql).get(...(values as (string | number)[])) !== undefined;
  const isOfManager = isManager(from);
  const isCommitted = ((): boolean => {
    if (isOfManager && type === "MATCH_RESULT_RESPONSE") return isStored(RESULT_OF_MANAGER, match_id, epoch);
    if (isOfManager && type === "START_GAME") return isStored(ASSIGNMENT, match_id, epoch);
    if (isOfManager) return true;
    if (type === "START_GAME_RESPONSE" || type === "GAME_INVITE") return isStored(SESSION, match_id, epoch);
    if (type === "MOVE_REQUEST") return isStored(ACTIONS, match_id, epoch, payload.tick);
    const isResult = type === "GAME_RESULT" || type === "MATCH_RESULT";
    return !isResult || payload.log_head === "" || isStored(LOG_HEAD, payload.log_head);
  })();
  return isCommitted ? [] : [`commit order: ${from} sent ${type} of ${match_id}, epoch ${epoch}, before its commit`];
}
