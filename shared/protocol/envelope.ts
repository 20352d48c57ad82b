import { z } from "zod";
import "../lib/schema-messages.ts";
import { cutTo, inOneLine, isName } from "../lib/text.ts";
import { type MessageType, messageTypes } from "./message-types.ts";

export const PROTOCOL = "league.v2";

const senderPattern = /^(player|referee|league_manager):.{1,200}$/u;
const uuidV4Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const utcPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/**
 * Returns whether the date exists in the calendar and the time is valid. JavaScript would turn 30 February into 2
 * March.
 */
function isCalendarDate(text: string): boolean {
  if (Number.isNaN(Date.parse(text))) return false;
  const day = Number(text.slice(8, 10));
  return new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate() >= day;
}

/** The league.v2 envelope (PROTOCOL.md, section 1). Unknown fields are ignored. */
export const Envelope = z.compile(
  z.object({
    protocol: z.literal(PROTOCOL, 'must be "league.v2"'),
    message_id: z.string().regex(uuidV4Pattern, "must be a UUID v4"),
    type: z.enum(messageTypes, "unknown message type"),
    // Before its registration an agent has its name as its id, which may contain spaces.
    sender: z
      .string()
      .regex(senderPattern, { error: "must be agent_type:agent_id", abort: true })
      .refine(isName, "must be agent_type:agent_id"),
    timestamp: z
      .string()
      .regex(utcPattern, { error: "must be ISO 8601 UTC, ending in Z or +00:00", abort: true })
      .refine(isCalendarDate, "is not a date"),
    // Only the type is checked here. The schema of each message parses the payload.
    payload: z
      .custom<Record<string, unknown>>(
        (value) => typeof value === "object" && value !== null && !Array.isArray(value),
        "must be an object",
      )
      .meta({ type: "object" }),
    auth_token: z.string().max(1000).nullish(),
    correlation_id: z.string().max(200).nullish(),
  }),
);
export type Envelope = z.infer<typeof Envelope>;

/** Returns whether the arguments of a tool are an envelope and not plain arguments. */
export const looksLikeEnvelope = (args: unknown): boolean =>
  typeof args === "object" && args !== null && "protocol" in args;

export interface EnvelopeOptions {
  readonly authToken?: string | undefined;
  /** The `message_id` of the request that the message answers. */
  readonly correlationId?: string | undefined;
  /** A random UUID, or the `derivedMessageId` of a message that may be sent again. */
  readonly messageId: string;
  /** The timestamp, ISO 8601 UTC: `Clock.iso()`. */
  readonly at: string;
}

/** Creates an envelope. Optional fields are omitted if their options are undefined. */
export function newEnvelope(type: MessageType, sender: string, payload: object, options: EnvelopeOptions): Envelope {
  return {
    protocol: PROTOCOL,
    message_id: options.messageId,
    type,
    sender,
    timestamp: options.at,
    payload: payload as Record<string, unknown>,
    ...(options.authToken !== undefined && { auth_token: options.authToken }),
    ...(options.correlationId !== undefined && { correlation_id: options.correlationId }),
  };
}

/** A fault that a schema has found. `path` is dotted, and empty for the whole value. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

/** Returns the faults of a schema error. Their paths begin with `prefix` if it is given. */
export const fieldFaults = (error: z.ZodError, prefix = ""): readonly FieldFault[] =>
  error.issues.map((issue) => ({
    path: [...(prefix ? [prefix] : []), ...issue.path.map(String)].join("."),
    message: issue.message,
  }));

/** The longest text about invalid fields, in characters. */
const MAX_FAULTS_LENGTH = 500;

/** Returns the paths and messages of invalid fields as one line for people. Paths are untrusted: keys of records are a part of them. */
export function faultsText(faults: readonly FieldFault[]): string {
  const texts = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return cutTo(MAX_FAULTS_LENGTH, inOneLine(texts.join("; ")));
}
