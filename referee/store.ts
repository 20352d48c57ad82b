import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "#shared/lib/clock.ts";
import { ownStore } from "#shared/runtime/own-store.ts";
import { threadWriter, type Writer } from "#shared/store/writer.ts";
import { CODENAMES_SCHEMA } from "./codenames/table.ts";
import type { ServiceOptions } from "./options.ts";
import { REPLY_SCHEMA } from "./sessions/replies.ts";
import { SEAT_SCHEMA } from "./sessions/seats.ts";
import { SESSION_SCHEMA } from "./sessions/session-store.ts";
import { MATCH_SCHEMA } from "./tables.ts";

const SCHEMA = SESSION_SCHEMA + MATCH_SCHEMA + REPLY_SCHEMA + SEAT_SCHEMA + CODENAMES_SCHEMA;

/** A referee's database: read here, written by a separate thread. */
export interface RefereeStore {
  readonly db: DatabaseSync;
  readonly writer: Writer;
  close(): Promise<void>;
}

/** Opens the database of the referee at a port. A StartError says why it cannot be opened. */
export function openStore({ dataFolder, storeName }: ServiceOptions, port: number, clock: Clock): RefereeStore {
  const file = join(dataFolder, `${storeName ?? `referee-${port}`}.sqlite`);
  const store = ownStore(file, SCHEMA, clock);
  const writer = threadWriter(
    file,
    (reason) => {
      throw reason; // ends the process: a referee that cannot write must not ask
    },
    clock,
  );
  return {
    db: store.db,
    writer,
    async close() {
      await writer.close();
      store.close();
    },
  };
}
