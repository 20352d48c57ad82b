import type { ErrorRequestHandler, Response } from "express";
import { remoteAddressOf } from "#shared/rpc/http/request.ts";
import type { RejectionLog } from "#shared/rpc/jsonrpc/rejection-log.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { GameNotLoaded, type Rejection, type RestCode, rejectionTable, restStatus } from "../sessions/rejections.ts";

/** An error that is sent to the client. Its message must not contain hidden information. */
export class RestError extends Error {
  readonly code: RestCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    code: RestCode,
    message: string,
    { status = restStatus[code] as number, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.headers = headers;
  }
}

/** The error of the REST API for a rejection. */
export const restErrorOf = ({ code, message }: Rejection, headers = {}): RestError =>
  new RestError(rejectionTable[code].rest, message, { headers });

/** The error of the routes of the pages for a rejection. */
export const pageErrorOf = ({ code, message }: Rejection): RestError =>
  new RestError(rejectionTable[code].pages, message);

/** Returns the error that is sent for a thrown error; null for an internal error. */
export function knownError(thrown: unknown): RestError | null {
  if (thrown instanceof GameNotLoaded) return restErrorOf(thrown.rejection);
  return thrown instanceof RestError ? thrown : malformed(thrown);
}

/** A request that failed, for the log. */
interface FailedRequest {
  readonly remoteAddress: string;
  readonly agent: string | null;
  readonly method: string;
  readonly path: string;
}

/** Returns the error that is sent for a thrown error. A known error is logged as a rejection; any other error is logged, and sent without details. */
export function errorFor(
  thrown: unknown,
  { remoteAddress, agent, method, path }: FailedRequest,
  { log, rejections }: { readonly log: Logger; readonly rejections: RejectionLog },
): RestError {
  const known = knownError(thrown);
  if (!known) {
    log.error({ err: thrown, method, path }, "internal error");
    return new RestError("INTERNAL_ERROR", "Internal error");
  }
  const { code, message: reason } = known;
  rejections.write(remoteAddress, { code, reason, agent, request: `${method} ${path}` });
  return known;
}

/** Answers the errors that routes throw. */
export function errorAnswers(logs: Parameters<typeof errorFor>[2]): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const { method, path } = request;
    const agent = (response.locals.agent as string | undefined) ?? null;
    const error = errorFor(thrown, { remoteAddress: remoteAddressOf(request), agent, method, path }, logs);
    if (response.headersSent) response.destroy();
    else sendError(response, error);
  };
}

function sendError(response: Response, { code, message, status, headers }: RestError): void {
  response.status(status).set(headers).json({ error: { code, message } });
}

/** The error for a path that Express cannot decode; null for other errors. */
function malformed(thrown: unknown): RestError | null {
  const status = (thrown as { status?: unknown } | null)?.status;
  return status === 400 ? new RestError("INVALID_REQUEST", "Malformed URL") : null;
}
