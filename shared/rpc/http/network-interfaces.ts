import { networkInterfaces } from "node:os";
import type { Clock } from "../../lib/clock.ts";

/** The network interfaces of a machine by name, each with its addresses. */
export type Interfaces = ReturnType<typeof networkInterfaces>;

/** The present interfaces of this machine. */
export const readInterfaces = (): Interfaces => networkInterfaces();

/**
 * A function that returns the present interfaces of this machine. The system takes some 50 µs to list them, and many registrations may arrive in
 * one turn of the event loop, so a list is kept until the next turn.
 */
export function interfaceReader(clock: Pick<Clock, "defer">): () => Interfaces {
  let kept: Interfaces | null = null;
  return () => {
    if (kept === null) {
      kept = readInterfaces();
      clock.defer(() => {
        kept = null;
      });
    }
    return kept;
  };
}
