import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ok, type Result } from "#shared/lib/result.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import type { Peers } from "#shared/rpc/peer.ts";
import { Config } from "#shared/runtime/config.ts";
import { openLog } from "#shared/runtime/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import type { Agent, AgentKind } from "./agents.ts";
import { createManager, type Manager } from "./manager.ts";
import { type AgentRegistry, createRegistry } from "./registry.ts";
import { MANAGER_SCHEMA, type ManagerStore, managerStore } from "./tables.ts";
import { abortedR1M1, won } from "./testing-doors.ts";

/** Everybody accepts everything at once, and the manager hears of it. */
const peers: Peers = {
  message: async () => ok(newEnvelope("START_GAME_RESPONSE", "referee:REF01", {})),
  notify: async () => ok(null),
  isAlive: async () => true,
  isListening: async () => true,
  close: async () => {},
};

let manager: Manager;
let player: Agent;
let referee: Agent;
let close: () => void;
/** What happened, in order. */
let steps: string[] = [];
/** Resolves when the store is asked to keep a match's end, which it does after `release`. */
let asked = Promise.withResolvers<void>();
let release: () => void;
let isHeld = false;

/** A store that takes its time over the ends of matches, as a slow disk would. */
function slow(store: ManagerStore): ManagerStore {
  const gate = Promise.withResolvers<void>();
  release = gate.resolve;
  const held = async (write: () => Promise<void>): Promise<void> => {
    if (!isHeld) return write();
    asked.resolve();
    await gate.promise;
    await write();
    steps.push("on disk");
  };
  return {
    ...store,
    recordResult: (row) => held(() => store.recordResult(row)),
    updateMatch: (row) => (row.status === "scheduled" ? held(() => store.updateMatch(row)) : store.updateMatch(row)),
  };
}

const register = async (registry: AgentRegistry, kind: AgentKind, name: string): Promise<Agent> => {
  const no = { wantsLegalActions: false, wantsRoundResults: false, takesBatches: false };
  const registered = await registry.register(
    {
      kind,
      name,
      endpoint: `http://127.0.0.1:9/${name}`,
      gameTypes: ["rps.v1"],
      ...no,
      maxConcurrent: 1,
      remoteAddress: "127.0.0.1",
      token: null,
    },
    (agent) => {
      if (kind === "player") manager.leagues.get("rps")?.entrants.add(agent.id);
      return ok(kind === "player" ? ["rps"] : []);
    },
  );
  if (!registered.ok) throw new Error(registered.error.message);
  return registered.value.agent;
};

/** A running league of P01 and P02; R1M1 is REF01's. */
beforeEach(async () => {
  steps = [];
  isHeld = false;
  asked = Promise.withResolvers();
  const folder = mkdtempSync(join(tmpdir(), "results-"));
  const db = openSqlite(join(folder, "league-manager.sqlite"), MANAGER_SCHEMA);
  const store = slow(await managerStore(db));
  const allowedContacts = { hosts: [], endpoints: [] };
  const noPlaces = {
    onState: () => {},
    places: [],
    keepPlaces: false,
    rows: [],
    allowedContacts,
    hasLeft: async () => false,
    meta: new Map(),
    operatorToken: "",
  };
  const registry = createRegistry({ store, ...noPlaces });
  const config = Config.parse({ leagues: [{ league_id: "rps", game: "rps.v1" }] });
  const kept = await store.load();
  const log = openLog(null, "manager");
  manager = createManager({
    config,
    store,
    kept,
    registry,
    peers,
    log,
    run: { runId: "run", seed: "s", seedRule: "per_epoch" },
    emit: ({ type }) => steps.push(type),
  });
  close = () => {
    manager.stop();
    db.close();
    rmSync(folder, { recursive: true, force: true });
  };
  player = await register(registry, "player", "P01");
  await register(registry, "player", "P02");
  referee = await register(registry, "referee", "REF01");
  manager.welcomeReferee(referee);
  expect(await manager.start("rps")).toEqual(ok({ matches: 1 }));
  steps.length = 0;
  isHeld = true;
});
afterEach(() => close());

/** Reports a result; the answer joins the steps. */
async function tell(result: Parameters<Manager["record"]>[0]): Promise<void> {
  const answer: Result<{ status: string }, { error_code: string }> = await manager.record(result, referee);
  steps.push(answer.ok ? answer.value.status : answer.error.error_code);
}
/** Whatever can go on now does. */
const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns++) await turn();
};

describe("MATCH_RESULT is answered", () => {
  it("when it is on disk, and its second copy after that", async () => {
    const first = tell(won());
    await asked.promise;
    const copies = [tell(won()), tell(won())];
    await settle();
    expect(steps).toEqual([]);
    release();
    await Promise.all([first, ...copies]);
    const told = steps.filter((step) => /disk|RECORDED|match_completed|^L/.test(step));
    expect(told).toEqual(["on disk", "match_completed", "RECORDED", "ALREADY_RECORDED", "ALREADY_RECORDED"]);
    await vi.waitFor(() => expect(steps).toContain("all_completed"), 10_000);
  });

  it("once, when two copies come at the same time", async () => {
    const copies = [tell(won()), tell(won())];
    await asked.promise;
    release();
    await Promise.all(copies);
    const told = steps.filter((step) => /disk|RECORDED|match_completed|^L/.test(step));
    expect(told).toEqual(["on disk", "match_completed", "RECORDED", "ALREADY_RECORDED"]);
  });

  it("when the new try of an aborted match is on disk, and its second copy is late then", async () => {
    const first = tell(abortedR1M1());
    await asked.promise;
    const copy = tell(abortedR1M1());
    await settle();
    expect(steps).toEqual(["notice"]);
    release();
    await Promise.all([first, copy]);
    expect(steps).toEqual(["notice", "on disk", "RECORDED", "L004"]);
  });
});

it("a result that is being written while its round is restored is recorded, and the restoring goes on", async () => {
  await manager.remove(player);
  const told = tell(won());
  await asked.promise;
  const resumed = manager.resume();
  await settle();
  release();
  await Promise.all([resumed, told]);
  expect(steps).toContain("RECORDED");
  expect(steps.filter((step) => step === "on disk")).toHaveLength(1);
  expect([...(manager.leagues.get("rps")?.matches.values() ?? [])]).toMatchObject([{ result: { winner: "P01" } }]);
});
