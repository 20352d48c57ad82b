import { expect, it, onTestFinished } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { Member } from "../shared-run/run-database.ts";
import { createCluster } from "./cluster.ts";

it("a manager whose address refuses the connections of others warns once that it has lost its inboxes", async () => {
  const { ids, network } = silentProcess("manager");
  const clock = manualClock();
  const warnings: string[] = [];
  let managerId = "";
  const listeners: ((text: string) => void)[] = [];
  const signal = (text: string): void => listeners.forEach((listener) => void listener(text));
  const cluster = createCluster({
    database: {
      async heartbeat(self: Member) {
        managerId = self.managerId;
        return [self];
      },
      leave: async () => {},
      signal: async () => {},
      onSignal(listener) {
        listeners.push(listener);
        return () => {};
      },
    },
    ledger: { execute: () => Promise.reject(new Error("not used")) },
    config: Config.parse({ leagues: [{ league_id: "rps", game: "rps.v1" }] }),
    ...{ secret: "secret", playerOf: () => null, clock, ids, network, warn: (line) => void warnings.push(line) },
  });
  await cluster.join("http://10.0.0.1:8000");
  onTestFinished(async () => {
    const left = cluster.leave();
    await clock.advance(1_000);
    await left;
    await cluster.close();
  });
  signal("manager gone other");
  expect(warnings).toEqual([]);
  signal(`manager gone ${managerId}`);
  signal(`manager gone ${managerId}`);
  expect(warnings).toEqual([
    "http://10.0.0.1:8000 refuses the connections of another manager, so the others have taken over the inboxes: correct its LEAGUE_ADDRESS or --url, or open its port, and start it again",
  ]);
});
