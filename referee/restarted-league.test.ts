import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { PATIENCE } from "#shared/lib/testing/patience.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { agentDirectory } from "./agents.ts";
import { MATCH_SCHEMA, matchTable } from "./match/match-table.ts";
import { createReferee } from "./referee.ts";
import { createHost } from "./sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "./sessions/session-store.ts";
import { type Others, startOthers, TOKEN, testDriver, tokenOf } from "./testing/match.ts";

let folder: string;
let others: Others;
/** P02's moves wait for it. */
let letGo: PromiseWithResolvers<void>;
let close: (() => Promise<void>) | undefined;
beforeEach(async () => {
  letGo = Promise.withResolvers();
  folder = mkdtempSync(join(tmpdir(), "afresh-"));
  others = await startOthers({
    async move({ to }) {
      if (to === "P02") await letGo.promise;
      return null;
    },
  });
});
afterEach(async () => {
  letGo.resolve();
  await close?.();
  others.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A referee on the database of the referees before it. */
async function open() {
  await close?.();
  const db = openSqlite(join(folder, "referee.sqlite"), SESSION_SCHEMA + MATCH_SCHEMA);
  const writer = testWriter(db);
  const peers = createPeers({ clock: systemClock });
  const host = createHost(sessionStore(db, writer), systemClock, systemIds);
  const agents = agentDirectory(db, writer, systemClock, systemIds);
  const referee = createReferee({
    ...{ driver: testDriver(host, peers), peers, matches: matchTable(db, writer) },
    ...{ log: openLog(null, "referee"), manager: others.manager, reportTimeoutMs: 10_000 },
    identity: { id: "REF01", token: TOKEN },
    onTokensChanged: agents.forgetHolders,
  });
  close = async () => {
    close = undefined;
    await referee.stop();
    await peers.close();
    await vi.waitFor(() => expect(referee.running()).toEqual([]), PATIENCE);
    db.close();
  };
  return { host, agents, referee };
}
type Opened = Awaited<ReturnType<typeof open>>;

const reported = () => others.heard.filter(({ type }) => type === "MATCH_RESULT").map(({ payload }) => payload);
const invited = () => others.heard.filter(({ type }) => type === "GAME_INVITE").length;
const commitmentIn = (result: { log: string[] }): string => JSON.parse(result.log[0] ?? "").seed_commitment;
const order = (run_id: string | undefined, epoch: number, seed: string, more: object = {}): StartGame =>
  others.order({ ...(run_id && { run_id }), epoch, seed, ...more });
const begin = async ({ referee }: Opened, ordered: StartGame): Promise<string> => {
  const started = await referee.start(ordered);
  return started.ok ? started.value.session_id : started.error.error_code;
};
/** Plays a match to the end of its report. */
async function play(opened: Opened, ordered: StartGame): Promise<void> {
  letGo.resolve();
  const before = reported().length;
  await begin(opened, ordered);
  await vi.waitFor(() => expect(reported().length).toBeGreaterThan(before), { timeout: 10_000 });
  await vi.waitFor(() => expect(opened.referee.running()).toEqual([]), PATIENCE);
}

describe("a referee that keeps its store while the league starts afresh", () => {
  it.each([
    ["in run_id", "one", "two", "one seed", "one seed"],
    ["in the seed commitment", undefined, undefined, "first seed", "second seed"],
  ])("asks the players again, and reports the new result: runs differ %s", async (_how, before, after, seed, next) => {
    await play(await open(), order(before, 1, seed));
    expect(invited()).toBe(2);
    await play(await open(), order(after, 1, next));
    expect(invited()).toBe(4);
    const [first, second] = reported();
    expect(commitmentIn(second)).toBe(sha256Hex(next));
    expect(second.log_head).not.toBe(first.log_head);
  });

  it("plays a match again if its players are others, although its seed is the same", async () => {
    await play(await open(), order(undefined, 1, "seed"));
    const { player_1, player_2 } = others.order().roles;
    await play(await open(), order(undefined, 1, "seed", { roles: { player_1: player_2, player_2: player_1 } }));
    expect(reported().map(({ winner }) => winner)).toEqual(["P01", "P01"]);
    expect(reported().map(({ faults }) => faults)).toEqual([[], []]);
    expect(reported()[1].log_head).not.toBe(reported()[0].log_head);
  });

  it.each([
    ["another run", "one", "two"],
    ["another seed, of a manager that names no run", undefined, undefined],
  ])("plays a match under epoch 1 although it has stored a higher epoch of %s", async (_what, before, after) => {
    await play(await open(), order(before, 3, "first seed"));
    await play(await open(), order(after, 1, "second seed"));
    expect(reported().map(({ epoch, winner }) => [epoch, winner])).toEqual([
      [3, "P01"],
      [1, "P01"],
    ]);
  });

  it("gives each token its new seat, also if a player keeps its token and has another role", async () => {
    await play(await open(), order("one", 1, "seed"));
    const { player_1, player_2 } = others.order().roles;
    const roles = { player_1: { ...player_1, player_id: "P02" }, player_2: { ...player_2, player_id: "P03" } };
    const again = await open();
    expect(again.agents.holderOf(tokenOf("P01", "R1M1"))).toBe("P01@rps/R1M1");
    await play(again, order("two", 1, "another seed", { roles }));
    const holders = ["P01", "P02"].map((player) => again.agents.holderOf(tokenOf(player, "R1M1")));
    expect(holders).toEqual(["P02@rps/R1M1", "P03@rps/R1M1"]);
  });

  it("stops a match of the earlier run that is still being played, and aborts its session", async () => {
    const opened = await open();
    const first = await begin(opened, order("one", 1, "first seed"));
    const asked = await others.told("P02", "MOVE_REQUEST");
    const second = await begin(opened, order("two", 1, "second seed"));
    expect(second).not.toBe(first);
    await asked.gone;
    await vi.waitFor(() => expect(opened.host.read(first)?.session.termination).toBe("aborted"), PATIENCE);
    letGo.resolve();
    await vi.waitFor(() => expect(reported()).toHaveLength(1), { timeout: 10_000 });
    expect(commitmentIn(reported()[0])).toBe(sha256Hex("second seed"));
  });

  it("plays a match that was withdrawn in the earlier run, also if the withdrawal came twice", async () => {
    const opened = await open();
    await begin(opened, order("one", 1, "first seed"));
    await others.told("P02", "MOVE_REQUEST");
    for (let n = 0; n < 2; n++) opened.referee.withdraw("rps", "R1M1", 1);
    expect(await begin(opened, order("one", 1, "first seed"))).toBe("G005");
    await play(opened, order("two", 1, "second seed"));
    expect(commitmentIn(reported()[0])).toBe(sha256Hex("second seed"));
  });

  it("refuses a match that is withdrawn while it is being started, although the match of an earlier run is stored", async () => {
    const opened = await open();
    await play(opened, order("one", 1, "first seed"));
    const begun = begin(opened, order("two", 1, "second seed"));
    opened.referee.withdraw("rps", "R1M1", 1);
    expect(await begun).toBe("G005");
    expect(invited()).toBe(2);
  });
});

describe("within one run", () => {
  it("a match goes on in its session after a restart", async () => {
    const ordered = order("one", 1, "seed");
    const first = await begin(await open(), ordered);
    await others.told("P02", "MOVE_REQUEST");
    const again = await open();
    expect(await begin(again, ordered)).toBe(first);
    letGo.resolve();
    await vi.waitFor(() => expect(reported()).toHaveLength(1), { timeout: 10_000 });
    expect(again.host.read(first)?.session.status).toBe("completed");
  });

  it("a seat that has another token under a newer epoch is no longer held by the old one", async () => {
    const opened = await open();
    await play(opened, order("one", 1, "seed"));
    const { player_1, player_2 } = others.order().roles;
    const old = tokenOf("P01", "R1M1");
    expect(opened.agents.holderOf(old)).toBe("P01@rps/R1M1");
    const roles = { player_1: { ...player_1, match_token: "another token" }, player_2 };
    await begin(opened, order("one", 2, "another seed", { roles }));
    expect([old, "another token"].map(opened.agents.holderOf)).toEqual([null, "P01@rps/R1M1"]);
  });

  it("an older epoch is refused after a newer one, although each epoch has a seed of its own", async () => {
    await play(await open(), order("one", 2, "seed of epoch 2"));
    expect(await begin(await open(), order("one", 1, "seed of epoch 1"))).toBe("G005");
    expect(reported()).toHaveLength(1);
  });
});
