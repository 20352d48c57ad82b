import type { Request, Response } from "express";
import type { KeyedRequest, Replied } from "../sessions/replies.ts";
import { RestError, restErrorOf } from "./errors.ts";

const MAX_KEY_LENGTH = 200;

/** The key and the text by which a repeated request is recognized. Throws INVALID_REQUEST for a malformed Idempotency-Key. */
export const keyedRequest = (request: Request, agentId: string, body: string): KeyedRequest => ({
  agentId,
  ...keyOf("Idempotency-Key", request.headers["idempotency-key"]),
  request: `${request.method} ${request.path}\n${body}`,
});

/** The idempotency key in a header or field. Throws INVALID_REQUEST if it is malformed. */
export function keyOf(keyName: string, key: unknown): Pick<KeyedRequest, "key" | "keyName"> {
  if (key === undefined || key === null) return { key: null, keyName };
  if (typeof key === "string" && key.length >= 1 && key.length <= MAX_KEY_LENGTH) return { key, keyName };
  throw new RestError("INVALID_REQUEST", `${keyName}: must be 1 to ${MAX_KEY_LENGTH} characters`);
}

/** Sends a reply. Throws the error of a rejection. */
export function sendReply(response: Response, replied: Replied): void {
  if (!replied.ok) throw restErrorOf(replied.error);
  const { status, body } = replied.value;
  response.status(status).type("json").send(body);
}
