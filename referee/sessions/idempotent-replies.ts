import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { Statement, Writer } from "#shared/store/writer.ts";
import { type Rejection, rejected } from "./rejections.ts";

export const REPLY_SCHEMA = `
  CREATE TABLE IF NOT EXISTS replies (
    agent_id TEXT NOT NULL REFERENCES agents(agent_id),
    idempotency_key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (agent_id, idempotency_key)
  ) STRICT, WITHOUT ROWID;
`;

/** An HTTP status and a body that answer a request. */
export interface Reply {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

export interface KeyedRequest {
  readonly agentId: string;
  /** The idempotency key of the request; null without one. */
  readonly key: string | null;
  /** The name of the header or argument with the key, for the text of a rejection. */
  readonly keyName: string;
  /** The text of the request. A request with the same key and another text is rejected. */
  readonly request: string;
}

/** The reply to an accepted request, or its rejection. */
export type Replied = Result<Reply, Rejection>;

/** The statements that store a reply, for the transaction of the command that it answers. */
export type Remember = (reply: Reply) => readonly Statement[];

/**
 * Answers a repeated request with its first reply, even after a restart. Only replies to accepted requests are stored: a rejected request
 * has changed nothing, so its repetition is decided again.
 */
export interface Replies {
  /** Runs `perform` unless the request already has a reply. Concurrent requests with one key run it once. Resolves with KEY_REUSED if another request had the key. */
  once(request: KeyedRequest, perform: (remember: Remember) => Promise<Replied>): Promise<Replied>;
  /** Removes replies that are older than a week. Calls within an hour of the last removal have no effect. */
  forgetOld(): Promise<void>;
}

const INSERT =
  "INSERT INTO replies (agent_id, idempotency_key, request_hash, status, body, created_at) VALUES (?, ?, ?, ?, ?, datetime(?))";
const DELETE_OLD = "DELETE FROM replies WHERE created_at < datetime(?, '-7 days')";
const REMOVE_EVERY_MS = 3_600_000;

/** Stores replies in the table of `REPLY_SCHEMA`. */
export function sqliteReplies(db: DatabaseSync, writer: Pick<Writer, "commit">, clock: Clock): Replies {
  const select = db.prepare(
    "SELECT request_hash, status, body FROM replies WHERE agent_id = ? AND idempotency_key = ?",
  );
  const underway = new Map<string, Promise<unknown>>();
  let nextRemovalAt = clock.monotonic();

  const storedReply = (agentId: string, key: string, keyName: string, hash: string): Replied | null => {
    const row = select.get(agentId, key);
    if (!row) return null;
    if (row.request_hash !== hash) return rejected("KEY_REUSED", `${keyName}: was used for another request`);
    return ok({ status: Number(row.status), body: String(row.body) });
  };

  return {
    async once({ agentId, key, keyName, request }, perform) {
      if (key === null) return perform(() => []);
      const hash = sha256Hex(request);
      const keyOfAgent = JSON.stringify([agentId, key]);
      for (let first = underway.get(keyOfAgent); first; first = underway.get(keyOfAgent)) await first.catch(() => {});
      const stored = storedReply(agentId, key, keyName, hash);
      if (stored) return stored;
      const performed = perform(({ status, body }) => [
        {
          sql: INSERT,
          parameters: [agentId, key, hash, status, body, clock.iso()],
        },
      ]).finally(() => underway.delete(keyOfAgent));
      underway.set(keyOfAgent, performed);
      return performed;
    },
    async forgetOld() {
      if (clock.monotonic() < nextRemovalAt) return;
      nextRemovalAt = clock.monotonic() + REMOVE_EVERY_MS;
      await writer.commit([{ sql: DELETE_OLD, parameters: [clock.iso()] }]);
    },
  };
}
