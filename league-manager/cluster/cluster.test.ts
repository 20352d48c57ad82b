import { beforeEach, expect, it, onTestFinished } from "vitest";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { Member } from "../shared-run/run-database.ts";
import { type Cluster, createCluster } from "./cluster.ts";

let clock: ManualClock;
/** The managers in the database. */
let members: readonly Member[];
/** The listeners for signals. A signal also reaches its sender, which ignores it. */
let listeners: ((text: string) => void)[];
let warnings: string[];
let notices: string[];

beforeEach(() => {
  clock = manualClock();
  [members, listeners, warnings, notices] = [[], [], [], []];
});

const signal = (text: string): void => listeners.forEach((listener) => void listener(text));

const database = {
  async heartbeat(self: Member) {
    members = [...members.filter(({ managerId }) => managerId !== self.managerId), self];
    return members;
  },
  async leave(managerId: string) {
    members = members.filter((member) => member.managerId !== managerId);
  },
  signal: async (text: string) => signal(text),
  onSignal(listener: (text: string) => void) {
    listeners.push(listener);
    return () => {
      listeners = listeners.filter((other) => other !== listener);
    };
  },
};

/** Joins a manager. Only the first one prints. */
async function join(url: string): Promise<{ readonly cluster: Cluster; leave(): Promise<void> }> {
  const { ids, network } = silentProcess("manager");
  const isFirst = listeners.length === 0;
  const cluster = createCluster({
    database,
    ledger: { execute: () => Promise.reject(new Error("not used")) },
    config: Config.parse({ leagues: [{ league_id: "rps", game: "rps.v1" }] }),
    secret: "secret",
    playerOf: () => null,
    clock,
    ids,
    network,
    warn: (line) => void (isFirst && warnings.push(line)),
    notice: (line) => void (isFirst && notices.push(line)),
  });
  await cluster.join(url);
  const leave = async (): Promise<void> => {
    const left = cluster.leave();
    await clock.advance(1_000);
    await left;
    await cluster.close();
  };
  return { cluster, leave };
}

it("a manager whose address refuses the connections of others warns once that it has lost its inboxes", async () => {
  const { leave } = await join("http://10.0.0.1:8000");
  onTestFinished(leave);
  const managerId = members[0]?.managerId;
  signal("manager gone other");
  expect(warnings).toEqual([]);
  signal(`manager gone ${managerId}`);
  signal(`manager gone ${managerId}`);
  expect(warnings).toEqual([
    "http://10.0.0.1:8000 refuses the connections of another manager, so the others have taken over the inboxes: correct its LEAGUE_ADDRESS or --url, or open its port, and start it again",
  ]);
});

it("a manager says which others stop, and which no longer accept connections", async () => {
  const first = await join("http://10.0.0.1:8000");
  onTestFinished(first.leave);
  const second = await join("http://10.0.0.2:8000");
  const third = await join("http://10.0.0.3:8000");
  onTestFinished(third.leave);
  await clock.advance(9_000);
  await second.leave();
  await clock.advance(2_000);
  signal(`manager gone ${members.find(({ url }) => url.includes("10.0.0.3"))?.managerId}`);
  await clock.advance(2_000);
  expect(notices.slice(1)).toEqual([
    "the manager at http://10.0.0.2:8000 has stopped; 2 managers work",
    "the manager at http://10.0.0.3:8000 accepts no connections; 1 manager works",
  ]);
});
