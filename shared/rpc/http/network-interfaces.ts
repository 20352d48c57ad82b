import { networkInterfaces } from "node:os";
import type { Clock } from "../../lib/clock.ts";

/** The network interfaces of a machine by name, each with its addresses. */
export type Interfaces = ReturnType<typeof networkInterfaces>;

/** Returns the current interfaces of this machine. */
export const readInterfaces = (): Interfaces => networkInterfaces();

/**
 * Returns a function that returns the current interfaces of this machine. The system takes about 50 µs to list them, and many registrations may
 * arrive in one turn of the event loop, so the list is cached until the next turn.
 */
export function interfaceReader(clock: Pick<Clock, "defer">): () => Interfaces {
  let cached: Interfaces | null = null;
  return () => {
    if (cached === null) {
      cached = readInterfaces();
      clock.defer(() => {
        cached = null;
      });
    }
    return cached;
  };
}
