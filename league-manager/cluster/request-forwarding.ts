import type { IncomingMessage } from "node:http";
import type { Clock } from "#shared/lib/clock.ts";
import { equalSecrets, hmacBase64Url } from "#shared/lib/hash.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { bareHost } from "#shared/protocol/addresses.ts";
import type { Destination, Forwarding } from "#shared/rpc/http/forwarding.ts";
import { bearerOf, type Caller, pathOf } from "#shared/rpc/http/request.ts";
import type { Member } from "../shared-run/run-database.ts";

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
  managerId,
  method,
  target,
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

/** The header of a request that a manager has passed on: its caller and the time, signed with the secret of the run. */
export const SIGNATURE_HEADER = "league-forwarded";

/** The request that a signature is for. */
interface SignedRequest {
  /** The manager that receives it. */
  readonly managerId: string;
  readonly method: string;
  /** Its path and query. */
  readonly target: string;
}

/** Signs the caller of a request for another manager of the run. */
export interface CallerSignature {
  headersFor(caller: Caller, request: SignedRequest): Readonly<Record<string, string>>;
  /** Returns the caller in the header of a request; null if no manager of the run has signed it for this request in the last minute. */
  callerIn(header: string | string[] | undefined, request: SignedRequest): Caller | null;
}

interface SignatureOptions {
  /** The secret of the run. */
  readonly secret: string;
  readonly clock: Pick<Clock, "now">;
  /** Prints a warning. */
  readonly warn: (line: string) => void;
}

/** The largest difference between the time of a signature and the clock of the manager that receives it. */
const WINDOW_MS = 60_000;

export function callerSignature({ secret, clock, warn }: SignatureOptions): CallerSignature {
  let hasWarned = false;
  const sign = (signed: string, { managerId, method, target }: SignedRequest): string =>
    hmacBase64Url(secret, ["forwarded", managerId, method, target, signed].join("\n"));
  const isNow = (atMs: number): boolean => {
    const aheadMs = atMs - clock.now();
    // A signature of the past may be repeated by an attacker, or this process was stopped when it arrived.
    if (aheadMs > WINDOW_MS && !hasWarned) {
      hasWarned = true;
      const seconds = Math.round(aheadMs / 1000);
      const effect = "the requests that it passes on may be rejected";
      warn(`the clock of another manager is ${seconds} s ahead of this one, so ${effect}: synchronize both clocks`);
    }
    return Math.abs(aheadMs) <= WINDOW_MS;
  };
  return {
    headersFor({ remoteAddress, origin }, request) {
      const signed = Buffer.from(JSON.stringify([remoteAddress, origin, clock.now()])).toString("base64url");
      return { [SIGNATURE_HEADER]: `${signed}.${sign(signed, request)}` };
    },
    callerIn(header, request) {
      if (typeof header !== "string") return null;
      const [signed = "", signature = ""] = header.split(".");
      if (!equalSecrets(signature, sign(signed, request))) return null;
      const content = parsedJson(Buffer.from(signed, "base64url").toString()) as [string, string, number];
      const [remoteAddress, origin, atMs] = content;
      return isNow(atMs) ? { remoteAddress, origin } : null;
    },
  };
}
