import type { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../lib/clock.ts";
import { localWriter, type Writer } from "../writer.ts";

/** Creates a writer on this thread, with the clock of the machine. */
export const testWriter = (db: DatabaseSync): Writer => localWriter(db, systemClock);
