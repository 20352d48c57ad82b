import type { Entry, LogRow } from "../session/entry.ts";
import { rowsOf } from "../session/testing-rows.ts";
import type { Access, NewSession, Snapshot } from "./action-log.ts";

export const AT = "2025-01-01T00:00:00.000Z";
export const SNAPSHOT: Snapshot = { state: "{}", status: "active", tick: 0 };
export const ACCESS: Access = { actedBy: "seats", spectators: "public" };
const participants = { white: "agent-1", black: "agent-2" };
export const seat = (role: string, agentId: string) => ({ role, agentId, tokenHash: `hash of ${agentId}` });
export const newSession = (sessionId: string): NewSession => ({
  sessionId,
  template: "chess.v1",
  seed: `seed of ${sessionId}`,
  seats: [seat("white", "agent-1"), seat("black", "agent-2")],
  ...ACCESS,
});

/** The sound rows of a session: `created`, then so many actions. */
export function rows(session_id: string, actions: number): LogRow[] {
  const created: Entry = {
    type: "created",
    session_id,
    game: "chess.v1",
    options: {},
    participants,
    seed_commitment: "c",
    at: AT,
  };
  const acted = Array.from({ length: actions }, (_, tick): Entry => {
    return { type: "acted", tick, role: "white", agent: "agent-1", action: { uci: "é\n☃", tick }, at: AT };
  });
  return rowsOf(
    session_id,
    [created, ...acted].map((entry) => JSON.stringify(entry)),
  );
}
