import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Agent } from "../agents/agent.ts";
import { inboxOwnerOf, isHosted } from "../agents/inbox-endpoint.ts";
import type { OtherManagers } from "../cluster/homes.ts";
import type { Inboxes } from "./inboxes.ts";

/** A player as the interfaces of its inbox know it. */
type InboxOwner = Pick<Agent, "endpoint" | "tokenHash">;

/** The parts of the manager that the interfaces of an inbox use. */
export interface InboxContext extends OtherManagers {
  readonly inboxes: Inboxes;
  readonly projections: {
    agent(playerId: string): InboxOwner | null;
    authenticate(token: string | null): { readonly id: string } | null;
  };
}

const PATH = /^\/inbox\/([^/]+?)(?:\/(mcp|attended))?$/;

/**
 * The inbox that a path denotes, and its interface: `poll` for the player, `mcp` for referees, and `attended` for other managers, which find out whether
 * the player polls.
 */
interface InboxPath {
  readonly playerId: string;
  readonly face: "poll" | "mcp" | "attended";
}

/** Returns the inbox that a path denotes; null for any other path. A query is ignored. */
export function inboxAt(target: string): InboxPath | null {
  const [, playerId, face = "poll"] = PATH.exec(target.split("?", 1)[0] ?? "") ?? [];
  return playerId === undefined ? null : { playerId, face: face as InboxPath["face"] };
}

/** Returns the player whose home answers a request; null for any other path, and for a question of another manager, which goes to the home itself. */
export function playerAt(path: string): string | null {
  const inbox = inboxAt(path);
  return inbox === null || inbox.face === "attended" ? null : inbox.playerId;
}

/** Returns the player with this id if it has an inbox, else null. */
export function ownerOf({ projections }: InboxContext, playerId: string): InboxOwner | null {
  const player = projections.agent(playerId);
  return player && inboxOwnerOf(player.endpoint) === playerId ? player : null;
}

interface Rejection {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/**
 * Resolves with the reason why a caller may not use the inbox of a player, or null if the caller is that player. A caller with a token that may have
 * registered at another manager a moment ago waits for the commits of that manager; "unknown" if the database does not answer.
 */
export async function rejectionOf(
  context: InboxContext,
  playerId: string,
  http: Pick<HttpContext, "bearer">,
): Promise<Rejection | "unknown" | null> {
  const rejection = knownRejectionOf(context, playerId, http);
  if (!rejection || http.bearer === null) return rejection;
  return (await context.catchUp()) ? knownRejectionOf(context, playerId, http) : "unknown";
}

function knownRejectionOf(
  context: InboxContext,
  playerId: string,
  { bearer }: Pick<HttpContext, "bearer">,
): Rejection | null {
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
