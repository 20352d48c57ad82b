import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import type { AgentReport } from "#shared/runtime/process/parent-process.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { stored } from "./league/testing/leagues.ts";
import { startManager } from "./service.ts";
import { enter, ledgerOn, openLeague } from "./store/testing/ledger.ts";

test("a manager whose start fails releases its port and its store", async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), "service-faults-"));
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true }));
  const config = Config.parse({ leagues: [{ league_id: "first", game: "rps.v1" }] });
  const options = { config, dataFolder };
  let url = "";
  const failing = {
    ...silentProcess("manager"),
    report: (event: AgentReport) => {
      if (event.type === "ready") url = event.url;
      throw new Error("no parent process");
    },
  };
  await expect(startManager({ ...options, port: 0 }, failing)).rejects.toThrow("no parent process");
  // A second manager can use the same port and store.
  const manager = await startManager({ ...options, port: Number(new URL(url).port) }, silentProcess("manager"));
  await manager.stop();
});

test.each([
  ["of a league that cannot follow", "league:first", 2, stored({ type: "completed" })],
  ["of a league of an unknown type", "league:first", 2, { ...stored({ type: "completed" }), type: "unknown_type" }],
  ["of an agent of an unknown type", "agent:P1", 1, { ...stored({ type: "completed" }), type: "unknown_type" }],
])(
  "an event %s ends the start with one line that names the file, the stream and the event",
  async (_, stream, version, event) => {
    const dataFolder = mkdtempSync(join(tmpdir(), "service-faults-"));
    onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true }));
    const file = join(dataFolder, "league-manager.sqlite");
    const { ledger, store, db } = await ledgerOn(file);
    for (const command of [openLeague("first"), enter("first")]) await ledger.execute(command);
    const events = [{ type: event.type, body: JSON.stringify(event) }];
    await store.commit([{ stream, expectedVersion: version, events }], [], event.at);
    db.close();
    const config = Config.parse({ leagues: [{ league_id: "first", game: "rps.v1" }] });
    const options = { config, port: 0, dataFolder };
    const fault = await startManager(options, silentProcess("manager")).catch((thrown: unknown) => thrown);
    expect(fault).toBeInstanceOf(StartError);
    const { message } = fault as StartError;
    expect(message).toContain(`${file} is damaged: event ${version + 1} of ${stream} cannot follow: `);
    expect(message).toMatch(/^.*\. Restore it from a copy, or move it away to begin with an empty one\.$/);
  },
);
