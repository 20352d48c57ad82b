import { z } from "zod";
import { withoutByteOrderMark } from "#shared/lib/text.ts";
import { RestError } from "./errors.ts";

const agentId = z.string().max(500).describe("id of an agent");

/** The body of `POST /agents`, which has no fields. */
export const RegisterAgent = z.strictObject({});

export const CreateSession = z.strictObject({
  template: z.string().max(100).describe("id of the game"),
  participants: z.record(z.string().max(100), agentId).describe("agent ids by role of the game"),
  options: z.record(z.string(), z.unknown()).optional().describe("options of the game; each has a default"),
  spectators: z.enum(["none", "public"]).default("none").describe("public: any agent may watch"),
});

export const SubmitAction = z.strictObject({
  action: z
    .custom<unknown>((value) => value !== undefined, "is missing")
    .describe("one of legal_actions")
    .meta({ title: "action" }),
  expected_tick: z
    .int()
    .min(0)
    .nullish()
    .describe(
      "the tick at which the caller expects the session. Required in sequential games; in a simultaneous turn only a tick of a closed turn is rejected",
    ),
});

const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number);

/** The maximum time of a long poll, in seconds. */
const MAX_WAIT_S = 30;

export const StateQuery = z.object({
  wait_after_tick: wholeNumber
    .optional()
    .describe("answer as soon as the tick is higher than this, or the session is over"),
  timeout_s: wholeNumber
    .refine((seconds) => seconds <= MAX_WAIT_S, `must be at most ${MAX_WAIT_S}`)
    .default(25)
    .describe("time limit of the wait, in seconds, at most 30; then the current state is returned"),
});

/** The maximum number of sessions in an answer of `GET /sessions`. */
const MAX_LISTED = 1_000;

export const ListQuery = z.object({
  agent_id: agentId.optional().describe("id of the caller; other ids are FORBIDDEN"),
  limit: wholeNumber
    .refine((count) => count >= 1 && count <= MAX_LISTED, `must be 1 to ${MAX_LISTED}`)
    .default(MAX_LISTED)
    .describe("maximum number of sessions, newest first"),
  before: z.string().max(100).optional().describe("only sessions that were created before this one"),
});

export const EventsQuery = z.object({
  last_event_id: wholeNumber.optional().describe("same as the header Last-Event-ID, for clients that cannot send it"),
});

/** Parses a body. An empty body is an empty object. Throws INVALID_REQUEST with the field and the reason. */
export function parseBody<T>(schema: z.ZodType<T>, text: string): T {
  let value: unknown;
  try {
    const json = withoutByteOrderMark(text);
    value = json.trim() === "" ? {} : JSON.parse(json, MAYBE_PROTO.test(json) ? rejectProto : undefined);
  } catch (thrown) {
    const reason = thrown instanceof RestError ? thrown.message : "The body is not JSON";
    throw new RestError("INVALID_REQUEST", reason);
  }
  return checked(schema, value);
}

/** Parses a query. Throws INVALID_REQUEST. */
export const parseQuery = <T>(schema: z.ZodType<T>, query: unknown): T => checked(schema, query);

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.join(".") || "request";
  throw new RestError("INVALID_REQUEST", `${where}: ${issue?.message ?? "is malformed"}`.slice(0, 500));
}

/** Matches text that may contain the key `__proto__`, plain or escaped. Only such text is parsed with a reviver, because that is slow. */
const MAYBE_PROTO = /__proto__|\\u/;

/** Rejects the key `__proto__`, which would set a prototype when the value is copied. */
function rejectProto(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new RestError("INVALID_REQUEST", "The body has a key __proto__");
  return value;
}
