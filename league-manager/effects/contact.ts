import { type Contact, dialectToken, parseSpeech } from "#shared/protocol/dialects/dialect.ts";
import type { Agent } from "../agents/agent.ts";
import type { League } from "../league/league.ts";

/** Returns how to address a player of another dialect in messages about a league; null for a native agent. */
export function contactOf(
  { id, dialect, tokenHash }: Pick<Agent, "id" | "dialect" | "tokenHash">,
  league: Pick<League, "completedCount">,
): Contact | null {
  const speech = parseSpeech(dialect);
  const token = dialectToken(id, tokenHash);
  return speech && { ...speech, playerId: id, token, completedMatches: league.completedCount };
}
