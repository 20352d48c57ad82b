import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { MANAGER_SCHEMA } from "../../league-manager/store/manager-store.ts";
import { SESSION_SCHEMA } from "../../referee/sessions/session-store.ts";
import { testEventLog } from "./testing/event-log.suite.ts";
import { MEDIA, openLog } from "./testing/event-log.ts";

/** The schemas of the stores that have an event log. */
const SCHEMAS: Readonly<Record<string, string>> = {
  "the tables of the session host": SESSION_SCHEMA,
  "the tables of the league manager": MANAGER_SCHEMA,
};

const folder = mkdtempSync(join(tmpdir(), "event-log-"));
afterAll(() => rmSync(folder, { recursive: true }));

for (const [name, schema] of Object.entries(SCHEMAS)) {
  for (const medium of MEDIA) testEventLog(`SQLite in ${medium}, with ${name}`, () => openLog(folder, schema, medium));
}
