import { z } from "zod";
import "../lib/schema-messages.ts";
import { type MessageType, messageTypes } from "./messages.ts";

export const PROTOCOL = "league.v2";

const senderPattern = /^(player|referee|league_manager):.{1,200}$/su;
const uuidV4Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const utcPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)$/;

/** Whether the date is in the calendar and the time on the clock; JavaScript would turn 30 February into 2 March. */
function isCalendarDate(text: string): boolean {
  if (Number.isNaN(Date.parse(text))) return false;
  const day = Number(text.slice(8, 10));
  return day <= 28 || new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate() >= day;
}

/** The league.v2 envelope (PROTOCOL.md, section 1). Unknown fields are ignored. */
export const Envelope = z.compile(
  z.object({
    protocol: z.literal(PROTOCOL, 'must be "league.v2"'),
    message_id: z.string().regex(uuidV4Pattern, "must be a UUID v4"),
    type: z.enum(messageTypes, "unknown message type"),
    sender: z.string().regex(senderPattern, "must be agent_type:agent_id"),
    timestamp: z
      .string()
      .regex(utcPattern, { error: "must be ISO 8601 UTC, ending in Z or +00:00", abort: true })
      .refine(isCalendarDate, "is not a date"),
    // Checked, not copied: each message's own schema reads it next.
    payload: z.custom<Record<string, unknown>>(
      (value) => typeof value === "object" && value !== null && !Array.isArray(value),
      "must be an object",
    ),
    auth_token: z.string().max(1000).nullish(),
    correlation_id: z.string().max(200).nullish(),
  }),
);
export type Envelope = z.infer<typeof Envelope>;

/** Whether arguments of a tool are meant as an envelope rather than plain. */
export const looksLikeEnvelope = (args: unknown): boolean =>
  typeof args === "object" && args !== null && "protocol" in args;

export interface EnvelopeOptions {
  readonly authToken?: string | undefined;
  /** The `message_id` of the request that this answers. */
  readonly correlationId?: string | undefined;
  /** A random UUID, or the `derivedMessageId` of a message that may be sent again. */
  readonly messageId: string;
  /** The timestamp, ISO 8601 UTC: `Clock.iso()`. */
  readonly at: string;
}

/** A new envelope. */
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

/** Where and why a value failed its schema; `path` is dotted, empty for the whole. */
export interface FieldFault {
  readonly path: string;
  readonly message: string;
}

export const fieldFaults = (error: z.ZodError, prefix = ""): readonly FieldFault[] =>
  error.issues.map((issue) => ({
    path: [...(prefix ? [prefix] : []), ...issue.path.map(String)].join("."),
    message: issue.message,
  }));
