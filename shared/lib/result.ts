import { z } from "zod";
import { faultLine } from "./schema-messages.ts";

/** A refusal is a value, not an exception: exceptions are kept for our own bugs. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error });

/** Our own bug: thrown, never charged to a player. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  // The message of a ZodError is a JSON document.
  if (thrown instanceof z.core.$ZodError) return thrown.issues.map(faultLine).join("; ");
  return thrown instanceof Error ? thrown.message : String(thrown);
}
