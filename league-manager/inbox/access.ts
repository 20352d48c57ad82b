import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Agent } from "../agents/agent.ts";
import { inboxOwnerOf, isHosted } from "../agents/inbox-endpoint.ts";
import type { Inboxes } from "./inboxes.ts";

/** A player as the interfaces of its inbox know it. */
type Owner = Pick<Agent, "endpoint" | "tokenHash">;

/** The parts of the manager that the interfaces of an inbox use. */
export interface InboxContext {
  readonly inboxes: Inboxes;
  readonly projections: {
    agent(playerId: string): Owner | null;
    authenticate(token: string | null): { readonly id: string } | null;
  };
}

const PATH = /^\/inbox\/([^/]+?)(\/mcp)?$/;

/** Returns the player whose inbox a path denotes, and whether it is the endpoint for referees; null for any other path. A query is ignored. */
export function inboxAt(target: string): { readonly playerId: string; readonly isEndpoint: boolean } | null {
  const [, playerId, endpoint] = PATH.exec(target.split("?", 1)[0] ?? "") ?? [];
  return playerId === undefined ? null : { playerId, isEndpoint: endpoint !== undefined };
}

/** Returns the player with this id if it has an inbox, else null. */
export function ownerOf({ projections }: InboxContext, playerId: string): Owner | null {
  const player = projections.agent(playerId);
  return player && inboxOwnerOf(player.endpoint) === playerId ? player : null;
}

interface Rejection {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Returns the reason why a caller may not use the inbox of a player, or null if the caller is that player. */
export function rejectionOf(context: InboxContext, playerId: string, { bearer }: HttpContext): Rejection | null {
  if (context.projections.authenticate(bearer)?.id !== playerId) {
    return { status: 401, code: "UNAUTHORIZED", message: "send the player's token as Authorization: Bearer" };
  }
  const owner = ownerOf(context, playerId);
  if (owner && !isHosted(owner.endpoint)) return null;
  if (owner) {
    const message = `${playerId} plays by the tools or the page of the manager: register again with contact_endpoint null`;
    return { status: 409, code: "CONFLICT", message };
  }
  const message = `${playerId} has no inbox: register again with contact_endpoint null`;
  return { status: 404, code: "NOT_FOUND", message };
}
