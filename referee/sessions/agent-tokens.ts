import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Writer } from "#shared/store/writer.ts";

/** The agents of this host, identified by their tokens. Only the SHA-256 of a token is stored. Each seat of a league match is an agent. */
export interface AgentDirectory {
  /** Creates an agent. Resolves with its id and its token, which cannot be read again. */
  register(): Promise<{ readonly agentId: string; readonly token: string }>;
  /** The id of the agent with this token; null if there is none. */
  holderOf(token: string): string | null;
  /** The SHA-256 of an agent's token; null for an unknown agent. */
  tokenHashOf(agentId: string): string | null;
  /** Clears the cache of token holders. Must be called after an agent's token has been replaced in the database. */
  forgetHolders(): void;
}

/** Size of the cache of token holders. A token that an open seat receives is new, so it cannot be in the cache. */
const MAX_CACHED = 10_000;

export function agentDirectory(db: DatabaseSync, writer: Writer, clock: Clock, ids: Ids): AgentDirectory {
  const byHash = db.prepare("SELECT agent_id FROM agents WHERE token = ?");
  const byId = db.prepare("SELECT token FROM agents WHERE agent_id = ?");
  const holders = new Map<string, string>();
  return {
    async register() {
      const agentId = ids.uuid();
      const token = ids.token();
      const sql = "INSERT INTO agents (agent_id, token, created_at) VALUES (?, ?, datetime(?))";
      await writer.commit([{ sql, parameters: [agentId, sha256Hex(token), clock.iso()] }]);
      return { agentId, token };
    },
    holderOf(token) {
      const hash = sha256Hex(token);
      const known = holders.get(hash);
      if (known !== undefined) return known;
      const found = byHash.get(hash)?.agent_id;
      if (typeof found !== "string") return null;
      if (holders.size >= MAX_CACHED) holders.clear();
      holders.set(hash, found);
      return found;
    },
    forgetHolders: () => holders.clear(),
    tokenHashOf: (agentId) => (byId.get(agentId)?.token as string | undefined) ?? null,
  };
}

/** The player id in an agent id of a league match: `P01` in `P01@league/R1M1`. Returns other agent ids unchanged. */
export const playerOf = (agentId: string): string => agentId.split("@", 1)[0] ?? agentId;
