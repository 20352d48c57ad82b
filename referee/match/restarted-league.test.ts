import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import type { Entry } from "#shared/session/entry.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { agentDirectory } from "../sessions/agent-tokens.ts";
import { createHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { startTestLeague, type TestLeague, TOKEN, testDriver, tokenOf } from "../testing/match.ts";
import { MATCH_SCHEMA, matchTable } from "./match-table.ts";
import { createReferee } from "./referee.ts";

let folder: string;
let league: TestLeague;
/** P02 answers move requests when this is resolved. */
let mayAnswer: PromiseWithResolvers<void>;
let close: (() => Promise<void>) | undefined;
beforeEach(async () => {
  mayAnswer = Promise.withResolvers();
  folder = mkdtempSync(join(tmpdir(), "restarted-league-"));
  league = await startTestLeague({
    async move({ to }) {
      if (to === "P02") await mayAnswer.promise;
      return null;
    },
  });
});
afterEach(async () => {
  mayAnswer.resolve();
  await close?.();
  league.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a referee with the database of the previous one, which it stops. */
async function restart() {
  await close?.();
  const db = openSqlite(join(folder, "referee.sqlite"), SESSION_SCHEMA + MATCH_SCHEMA);
  const writer = testWriter(db);
  const peers = createPeers({ clock: systemClock });
  const host = createHost(sessionStore(db, writer), systemClock, systemIds);
  const agents = agentDirectory(db, writer, systemClock, systemIds);
  const referee = createReferee({
    driver: testDriver(host, peers),
    peers,
    matches: matchTable(db, writer),
    log: openLog(null, "referee"),
    manager: league.manager,
    reportTimeoutMs: 10_000,
    identity: { id: "REF01", token: TOKEN },
    onTokensChanged: agents.forgetHolders,
  });
  close = async () => {
    close = undefined;
    await referee.stop();
    await peers.close();
    await vi.waitFor(() => expect(referee.running()).toEqual([]), WAIT_OPTIONS);
    db.close();
  };
  return { host, agents, referee };
}
type RunningReferee = Awaited<ReturnType<typeof restart>>;

const reported = () => league.received.filter(({ type }) => type === "MATCH_RESULT").map(({ payload }) => payload);
const invited = () => league.received.filter(({ type }) => type === "GAME_INVITE").length;
const commitmentIn = (result: { log: string[] }): string => JSON.parse(result.log[0] ?? "").seed_commitment;
const order = (run_id: string | undefined, epoch: number, seed: string, more: object = {}): StartGame =>
  league.order({ ...(run_id && { run_id }), epoch, seed, ...more });
const begin = async ({ referee }: RunningReferee, startGame: StartGame): Promise<string> => {
  const started = await referee.start(startGame);
  return started.ok ? started.value.session_id : started.error.error_code;
};
/** Plays a match until its result is reported. */
async function play(running: RunningReferee, startGame: StartGame): Promise<void> {
  mayAnswer.resolve();
  const before = reported().length;
  await begin(running, startGame);
  await vi.waitFor(() => expect(reported().length).toBeGreaterThan(before), WAIT_OPTIONS);
  await vi.waitFor(() => expect(running.referee.running()).toEqual([]), WAIT_OPTIONS);
}

describe("a referee with the store of an earlier run", () => {
  it.each([
    ["in run_id", "one", "two", "one seed", "one seed"],
    ["in the seed commitment", undefined, undefined, "first seed", "second seed"],
  ])("plays the match again and reports the new result if the runs differ %s", async (_, before, after, seed, next) => {
    await play(await restart(), order(before, 1, seed));
    expect(invited()).toBe(2);
    await play(await restart(), order(after, 1, next));
    expect(invited()).toBe(4);
    const [first, second] = reported();
    expect(commitmentIn(second)).toBe(sha256Hex(next));
    expect(second.log_head).not.toBe(first.log_head);
  });

  it("plays a match again if its players differ and its seed is the same", async () => {
    await play(await restart(), order(undefined, 1, "seed"));
    const { player_1, player_2 } = league.order().roles;
    await play(await restart(), order(undefined, 1, "seed", { roles: { player_1: player_2, player_2: player_1 } }));
    expect(reported().map(({ winner }) => winner)).toEqual(["P01", "P01"]);
    expect(reported().map(({ faults }) => faults)).toEqual([[], []]);
    expect(reported()[1].log_head).not.toBe(reported()[0].log_head);
  });

  it.each([
    ["another run", "one", "two"],
    ["another seed, of a manager that sends no run_id", undefined, undefined],
  ])("plays a match under epoch 1 after it has stored a higher epoch of %s", async (_, before, after) => {
    await play(await restart(), order(before, 3, "first seed"));
    await play(await restart(), order(after, 1, "second seed"));
    expect(reported().map(({ epoch, winner }) => [epoch, winner])).toEqual([
      [3, "P01"],
      [1, "P01"],
    ]);
  });

  it("assigns each token to its new seat, even if a player keeps its token in another role", async () => {
    await play(await restart(), order("one", 1, "seed"));
    const { player_1, player_2 } = league.order().roles;
    const roles = { player_1: { ...player_1, player_id: "P02" }, player_2: { ...player_2, player_id: "P03" } };
    const again = await restart();
    expect(again.agents.holderOf(tokenOf("P01", "R1M1"))).toBe("P01@rps/R1M1");
    await play(again, order("two", 1, "another seed", { roles }));
    const holders = ["P01", "P02"].map((player) => again.agents.holderOf(tokenOf(player, "R1M1")));
    expect(holders).toEqual(["P02@rps/R1M1", "P03@rps/R1M1"]);
  });

  it("stops a match of the earlier run that is still under way and aborts its session", async () => {
    const running = await restart();
    const first = await begin(running, order("one", 1, "first seed"));
    const asked = await league.waitFor("P02", "MOVE_REQUEST");
    const second = await begin(running, order("two", 1, "second seed"));
    expect(second).not.toBe(first);
    await asked.closed;
    await vi.waitFor(() => expect(running.host.read(first)?.session.termination).toBe("aborted"), WAIT_OPTIONS);
    mayAnswer.resolve();
    await vi.waitFor(() => expect(reported()).toHaveLength(1), WAIT_OPTIONS);
    expect(commitmentIn(reported()[0])).toBe(sha256Hex("second seed"));
  });

  it("plays a match that was withdrawn in the earlier run, even if the withdrawal was repeated", async () => {
    const running = await restart();
    await begin(running, order("one", 1, "first seed"));
    await league.waitFor("P02", "MOVE_REQUEST");
    for (let n = 0; n < 2; n++) running.referee.withdraw("rps", "R1M1", 1);
    expect(await begin(running, order("one", 1, "first seed"))).toBe("G005");
    await play(running, order("two", 1, "second seed"));
    expect(commitmentIn(reported()[0])).toBe(sha256Hex("second seed"));
  });

  it("rejects a match that is withdrawn while it starts, even if the match of an earlier run is stored", async () => {
    const running = await restart();
    await play(running, order("one", 1, "first seed"));
    const begun = begin(running, order("two", 1, "second seed"));
    running.referee.withdraw("rps", "R1M1", 1);
    expect(await begun).toBe("G005");
    expect(invited()).toBe(2);
  });
});

describe("within a run", () => {
  it("a match continues in its session after a restart", async () => {
    const startGame = order("one", 1, "seed");
    const first = await begin(await restart(), startGame);
    await league.waitFor("P02", "MOVE_REQUEST");
    const again = await restart();
    expect(await begin(again, startGame)).toBe(first);
    mayAnswer.resolve();
    await vi.waitFor(() => expect(reported()).toHaveLength(1), WAIT_OPTIONS);
    expect(again.host.read(first)?.session.status).toBe("completed");
  });

  it("a match with clocks continues with the clocks of its log, and the interrupted request is not charged", async () => {
    const clock = { initial_ms: 60_000, increment_ms: 500 };
    const startGame = order("one", 1, "seed", { clock, options: { best_of: 3 } });
    const asked = () => league.received.filter(({ to, type }) => to === "P02" && type === "MOVE_REQUEST");
    const id = await begin(await restart(), startGame);
    await league.waitFor("P02", "MOVE_REQUEST");
    const again = await restart();
    await begin(again, startGame);
    await vi.waitFor(() => expect(asked()).toHaveLength(2), WAIT_OPTIONS);
    const remaining = asked().map(({ payload }) => payload.clock.remaining_ms.player_2);
    expect(remaining).toEqual([60_000, 60_000]);
    mayAnswer.resolve();
    await vi.waitFor(() => expect(reported()).toHaveLength(1), WAIT_OPTIONS);
    const { log } = (await league.waitFor("manager", "MATCH_RESULT")).payload;
    const entries = log.map((text: string) => JSON.parse(text));
    const charges: readonly number[] = entries.flatMap((entry: Entry) =>
      entry.type === "acted" && entry.role === "player_2" ? (entry.spent_ms ?? []) : [],
    );
    const total = charges.reduce((sum, ms) => sum + ms, 0);
    expect(again.host.read(id)?.session.clocks?.remaining_ms.player_2).toBe(60_000 + charges.length * 500 - total);
  });

  it("a new token for a seat under a newer epoch replaces the old one", async () => {
    const running = await restart();
    await play(running, order("one", 1, "seed"));
    const { player_1, player_2 } = league.order().roles;
    const old = tokenOf("P01", "R1M1");
    expect(running.agents.holderOf(old)).toBe("P01@rps/R1M1");
    const roles = { player_1: { ...player_1, match_token: "another token" }, player_2 };
    await begin(running, order("one", 2, "another seed", { roles }));
    expect([old, "another token"].map(running.agents.holderOf)).toEqual([null, "P01@rps/R1M1"]);
  });

  it("an older epoch is rejected after a newer one, even if each epoch has another seed", async () => {
    await play(await restart(), order("one", 2, "seed of epoch 2"));
    expect(await begin(await restart(), order("one", 1, "seed of epoch 1"))).toBe("G005");
    expect(reported()).toHaveLength(1);
  });
});
