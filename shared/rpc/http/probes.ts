import type { IncomingMessage } from "node:http";
import type { HttpReply } from "../jsonrpc/http-context.ts";
import { pathOf } from "./request.ts";

/** The paths of the probes, matched as express does: case-insensitive, with an optional slash at the end. */
const PROBE = /^\/(health|ready)\/?$/i;

const PROBE_HEADERS = { "content-type": "application/json; charset=utf-8" };

export interface Readiness {
  /** Names the process in the answer of `/health`, if the service consists of several servers. */
  readonly serverId?: string | undefined;
  readonly isReady: () => boolean;
  /** Returns the status that `/ready` names while the agent is not ready; absent or null for "starting". */
  readonly whyNotReady?: (() => string | null) | undefined;
}

/** Returns the answer to a probe; null for other requests. */
export function probeOf(request: IncomingMessage, { serverId, isReady, whyNotReady }: Readiness): HttpReply | null {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const [, probe] = PROBE.exec(pathOf(request)) ?? [];
  if (probe === undefined) return null;
  if (probe.toLowerCase() === "health") {
    return { status: 200, body: JSON.stringify({ status: "ok", server_id: serverId }), headers: PROBE_HEADERS };
  }
  return isReady()
    ? { status: 200, body: '{"status":"ready"}', headers: PROBE_HEADERS }
    : { status: 503, body: JSON.stringify({ status: whyNotReady?.() ?? "starting" }), headers: PROBE_HEADERS };
}
