import type { IncomingMessage } from "node:http";
import { bareHost } from "#shared/protocol/addresses.ts";
import type { Destination, Forwarding } from "#shared/rpc/http/forwarding.ts";
import { bearerOf, pathOf } from "#shared/rpc/http/request.ts";
import type { Member } from "../shared-run/run-database.ts";
import { type CallerSignature, SIGNATURE_HEADER } from "./caller-signature.ts";

interface ForwardingOptions {
  readonly self: Pick<Member, "managerId">;
  /** Returns the known managers. */
  readonly members: () => readonly Member[];
  /** Returns the home of a player; null if it is unknown. */
  readonly homeOf: (playerId: string) => Member | null;
  /** Returns the player whose home answers a request; null if any manager can answer it. `path` has no query. */
  readonly playerOf: (path: string, bearer: string | null) => string | null;
  readonly signature: CallerSignature;
  /** Called when no program listens at the address of another manager. */
  readonly onGone: (member: Member) => void;
  /** Adds a listener that is called when the known managers have changed. */
  readonly onChange: Forwarding["onChange"];
}

/** Separates the two parts of the id of an MCP session: the id of the manager that has opened it, and a random id. */
const SEPARATOR = ".";

/** Returns the beginning of the ids of the MCP sessions of a manager. */
export const sessionPrefix = ({ managerId }: Pick<Member, "managerId">): string => `${managerId}${SEPARATOR}`;

const signedFor = ({ method = "", url: target = "" }: Pick<IncomingMessage, "method" | "url">, managerId: string) => ({
  ...{ managerId, method, target },
});

/** The answer to a request in an MCP session whose manager has ended. The client then opens a new session. */
const SESSION_NOT_FOUND = {
  status: 404,
  body: JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }),
};

/** Returns the rules by which a manager passes requests on to the manager that has the inbox or the MCP session. */
export function managerForwarding(options: ForwardingOptions): Forwarding {
  const { self, members, homeOf, playerOf, signature } = options;
  const other = (member: Member | null | undefined, whenGone: Pick<Destination, "whenGone">): Destination | null =>
    member && member.managerId !== self.managerId ? { id: member.managerId, origin: member.url, ...whenGone } : null;
  return {
    serverId: self.managerId,
    destinationOf(request) {
      // If the clocks of two managers differ, the header counts for nothing, but the request was passed on all the same.
      if (request.headers[SIGNATURE_HEADER] !== undefined) return null;
      const path = pathOf(request);
      const session = path === "/mcp" ? request.headers["mcp-session-id"] : undefined;
      if (typeof session === "string") {
        const managerId = session.split(SEPARATOR, 1)[0];
        const owner = members().find((member) => member.managerId === managerId);
        return other(owner, { whenGone: SESSION_NOT_FOUND });
      }
      const playerId = playerOf(path, bearerOf(request));
      return playerId === null ? null : other(homeOf(playerId), {});
    },
    headersFor: (caller, request, { id }) => signature.headersFor(caller, signedFor(request, id)),
    callerIn: (request) => signature.callerIn(request.headers[SIGNATURE_HEADER], signedFor(request, self.managerId)),
    onGone({ origin }) {
      for (const member of members()) if (member.url === origin) options.onGone(member);
    },
    isKnown: ({ id }) => members().some(({ managerId }) => managerId === id),
    onChange: options.onChange,
    isServer: (address) => members().some(({ url }) => bareHost(new URL(url)) === address.replace(/^::ffff:/, "")),
  };
}
