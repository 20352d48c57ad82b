import { join } from "node:path";
import { throwLater } from "#shared/lib/clock.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import type { AgentStore } from "#shared/runtime/files/disk.ts";
import { CODENAMES_SCHEMA } from "./codenames/table.ts";
import { MATCH_SCHEMA } from "./match/match-table.ts";
import type { ServiceOptions } from "./options.ts";
import { REMATCH_SCHEMA } from "./play/pages/rematch.ts";
import { REPLY_SCHEMA } from "./sessions/replies.ts";
import { SEAT_SCHEMA } from "./sessions/seats.ts";
import { SESSION_SCHEMA } from "./sessions/session-store.ts";

const SCHEMA = SESSION_SCHEMA + MATCH_SCHEMA + REPLY_SCHEMA + SEAT_SCHEMA + REMATCH_SCHEMA + CODENAMES_SCHEMA;

/** Opens the database of the referee at a port. A separate thread writes its commits. Throws StartError if it cannot be opened. */
export function openStore(
  { dataFolder, storeName }: ServiceOptions,
  port: number,
  { clock, disk }: AgentProcess,
): AgentStore {
  const file = join(dataFolder, `${storeName ?? `referee-${port}`}.sqlite`);
  return disk.openStore(file, SCHEMA, {
    isWrittenByThread: true,
    // Ends the process: a referee that cannot write must not ask players for moves.
    onBroken: (error) => throwLater(clock, error),
  });
}
