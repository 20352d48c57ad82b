import type { Request, Response } from "express";
import type { Replied } from "../sessions/replies.ts";
import { RestError, restErrorOf } from "./errors.ts";

const MAX_KEY_LENGTH = 200;

/** The key and the text by which a repeated request is recognized. Throws INVALID_REQUEST for a malformed Idempotency-Key. */
export function keyedRequest(request: Request, agentId: string, body: string) {
  const key = request.headers["idempotency-key"];
  if (key !== undefined && (typeof key !== "string" || key.length < 1 || key.length > MAX_KEY_LENGTH)) {
    throw new RestError("INVALID_REQUEST", `Idempotency-Key: must be 1 to ${MAX_KEY_LENGTH} characters`);
  }
  return {
    agentId,
    key: key ?? null,
    keyName: "Idempotency-Key",
    request: `${request.method} ${request.path}\n${body}`,
  };
}

/** Sends a reply. Throws the error of a rejection. */
export function answer(response: Response, replied: Replied): void {
  if (!replied.ok) throw restErrorOf(replied.error);
  const { status, body } = replied.value;
  response.status(status).type("json").send(body);
}
