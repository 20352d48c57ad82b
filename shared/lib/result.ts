import { z } from "zod";
import { faultLine } from "./schema-messages.ts";

/** The outcome of an operation that can be rejected. Exceptions report bugs of this program. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });

/** Throws if the condition is false. This is a bug of this program, which is never charged to a player. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}

/**
 * Throws if an event cannot follow the preceding events of its log. The log may come from another machine, so this is
 * not necessarily a bug of this program.
 */
export function follows(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** The message about a value that is nested too deeply. */
export const TOO_DEEP = "nested too deeply";

/**
 * Returns the message of any thrown value, for people. Messages of the JSON parser quote the parsed text, which is
 * untrusted input, so they are replaced.
 */
export function messageOf(thrown: unknown): string {
  // The message of a ZodError is a JSON document.
  if (thrown instanceof z.core.$ZodError) return thrown.issues.map(faultLine).join("; ");
  if (thrown instanceof SyntaxError && /\bJSON\b/.test(thrown.message)) return jsonFault(thrown.message);
  if (thrown instanceof RangeError && /call stack/.test(thrown.message)) return TOO_DEEP;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Returns a message of `JSON.parse` without the text that it quotes. */
function jsonFault(message: string): string {
  const [, position] = /JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message) ?? [];
  if (position !== undefined) return `not JSON (position ${position})`;
  return message === "Unexpected end of JSON input" ? "not JSON: the text ends too early" : "not JSON";
}
