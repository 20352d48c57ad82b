import { z } from "zod";
import "../lib/schema-messages.ts";
import type { NewEvent } from "#shared/lib/hash.ts";
import { TimeControl } from "../lib/time-control.ts";

export const faultCauses = [
  "refused",
  "timeout",
  "clock",
  "http_error",
  "bad_json",
  "bad_reply",
  "bot_error",
  "too_large",
  "illegal_move",
  "declined",
  "resigned",
] as const;
export type FaultCause = (typeof faultCauses)[number];

const Fault = z.object({
  role: z.string(),
  /** G001 INVALID_MOVE or G002 TIMEOUT; absent for a resignation, which is not an error. */
  code: z.enum(["G001", "G002"]).optional(),
  cause: z.enum(faultCauses),
  detail: z.string(),
  /** The player's answer, cut to 2 kB, with tokens removed. */
  raw: z.string().optional(),
});
/** The reason why a role forfeits: `cause` for machines, `detail` for people. */
export type Fault = Readonly<z.infer<typeof Fault>>;

const tick = z.int().min(0);
const at = z.string();
const Entry = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("created"),
    session_id: z.string(),
    game: z.string(),
    options: z.unknown(),
    /** Role to agent. */
    participants: z.record(z.string(), z.string()),
    /** SHA-256 of the seed string. The seed itself is published when the session has ended. */
    seed_commitment: z.string(),
    /** Absent in a session without clocks. */
    clock: z.object(TimeControl.shape).optional(),
    at,
  }),
  z.object({
    type: z.literal("acted"),
    tick,
    role: z.string(),
    agent: z.string(),
    action: z.unknown(),
    /** The time that the role is charged for this action; absent in a session without clocks. */
    spent_ms: z.int().min(0).optional(),
    at,
  }),
  z.object({ type: z.literal("forfeited"), tick, faults: z.array(Fault).min(1).readonly(), at }),
  z.object({ type: z.literal("aborted"), tick, reason: z.string(), at }),
  z.object({ type: z.literal("expired"), tick, at }),
]);
/** An entry of a session's log. `at` is ISO 8601 UTC. */
export type Entry = Readonly<z.infer<typeof Entry>>;

/** The types of entries of a session's log. */
export const ENTRY_TYPES: readonly Entry["type"][] = Entry.options.map(({ shape }) => shape.type.value);

/**
 * Parses the stored text of an entry. Throws a SyntaxError if the text is not JSON, or a ZodError if it is not an
 * entry.
 */
export const parseEntry = (body: string): Entry => Entry.parse(JSON.parse(body));

/** Returns an entry as the event that is appended to the session's stream. */
export const eventOf = (entry: Entry): NewEvent => ({ type: entry.type, body: JSON.stringify(entry) });
