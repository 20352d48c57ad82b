import { type Contact, parseSpeech } from "#shared/protocol/dialects/dialect.ts";
import { dialectToken } from "#shared/protocol/dialects/token.ts";
import type { Agent } from "../agents/agent.ts";

/** Returns how to address a player of another dialect; null for a native agent. */
export function contactOf({ id, dialect, tokenHash }: Pick<Agent, "id" | "dialect" | "tokenHash">): Contact | null {
  const speech = parseSpeech(dialect);
  return speech && { ...speech, playerId: id, token: dialectToken(id, tokenHash) };
}
