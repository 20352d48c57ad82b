import type { ErrorRequestHandler, Response } from "express";
import { remoteAddressOf } from "#shared/rpc/http-request.ts";
import type { RefusalLog } from "#shared/rpc/refusal-log.ts";
import type { Logger } from "#shared/runtime/logger.ts";
import type { Refusal } from "#shared/session/session.ts";
import type { NotFound } from "../sessions/host.ts";
import type { NotBegun } from "../sessions/lobby.ts";
import { KeyReused } from "../sessions/replies.ts";

/** HTTP status of each error code. */
export const STATUS = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  INVALID_ACTION: 400,
  CONFLICT: 409,
  INVALID_REQUEST: 400,
  ALREADY_ACTED: 400,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_ERROR: 500,
} as const;
export type RestCode = keyof typeof STATUS;

/** A refusal on its way to the client; its message is shown, so it names nothing hidden. */
export class RestError extends Error {
  readonly code: RestCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    code: RestCode,
    message: string,
    { status = STATUS[code] as number, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

const CODE_OF: Readonly<Record<(Refusal | NotFound | NotBegun)["code"], RestCode>> = {
  SESSION_OVER: "INVALID_ACTION",
  ALREADY_ACTED: "ALREADY_ACTED",
  CONFLICT: "CONFLICT",
  NOT_YOUR_TURN: "INVALID_ACTION",
  ILLEGAL_ACTION: "INVALID_ACTION",
  WAITING_FOR_PLAYERS: "INVALID_ACTION",
  NOT_FOUND: "NOT_FOUND",
};

/** The REST error for a rejection of the session host. */
export const restErrorOf = ({ code, message }: Refusal | NotFound | NotBegun): RestError =>
  new RestError(CODE_OF[code], message);

/** Handles what a route throws. A rejection is logged and answered; any other error is logged and answered as an internal error, without details. */
export function errorAnswers(log: Logger, refusals: RefusalLog): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const known = thrown instanceof RestError ? thrown : malformed(thrown);
    if (!known) log.error({ err: thrown, method: request.method, path: request.path }, "internal error");
    else {
      const { code, message: reason } = known;
      const agent = (response.locals.agent as string | undefined) ?? null;
      const asked = `${request.method} ${request.path}`;
      refusals.refused(remoteAddressOf(request), { code, reason, agent, request: asked });
    }
    if (response.headersSent) response.destroy();
    else answer(response, known ?? new RestError("INTERNAL_ERROR", "Internal error"));
  };
}

function answer(response: Response, { code, message, status, headers }: RestError): void {
  response.status(status).set(headers).json({ error: { code, message } });
}

/** A reused idempotency key, or a path that Express cannot decode. */
function malformed(thrown: unknown): RestError | null {
  if (thrown instanceof KeyReused) return new RestError("INVALID_REQUEST", thrown.message);
  const status = (thrown as { status?: unknown } | null)?.status;
  return status === 400 ? new RestError("INVALID_REQUEST", "Malformed URL") : null;
}
