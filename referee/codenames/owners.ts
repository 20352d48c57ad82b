import { sha256Hex } from "#shared/lib/hash.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";

const BEARER = "bearer:";

/** The owner that a caller stands for: its bearer token, or else its MCP session. null if it has neither. */
export function ownerOf({ authToken, sessionId }: Caller): string | null {
  if (authToken !== null) return bearerOwner(authToken);
  return sessionId === undefined ? null : `session:${sessionId}`;
}

export const bearerOwner = (token: string): string => `${BEARER}${sha256Hex(token)}`;

export const isBearerOwner = (owner: string | null): boolean => owner?.startsWith(BEARER) === true;

/** The owner of a game whose caller has neither a bearer token nor a session: the rounds before the game. */
export const setupOwner = (setupId: string): string => `setup:${setupId}`;
