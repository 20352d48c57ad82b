import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { ok } from "#shared/lib/result.ts";
import { VersionConflict } from "#shared/store/event-log.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import { AT } from "../league/testing/leagues.ts";
import type { Commit, Decide, ManagerState } from "../ledger.ts";
import {
  enter,
  entered,
  LEAGUE_IDS,
  ledgerOn,
  type OpenedLedger,
  openLeague,
  profile,
  registered,
  stateAfterCrash,
} from "./testing/ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
let file: string;
let opened: OpenedLedger;
const execute = <Reply>(decide: Decide<Reply>) => opened.ledger.execute(decide);
const state = (): ManagerState => opened.ledger.state;

const afterCrash = (): Promise<ManagerState> => stateAfterCrash(file);

beforeEach(async () => {
  file = join(folder, `${++files}.sqlite`);
  opened = await ledgerOn(file);
});
afterEach(() => opened.db.close());

describe("the ledger", () => {
  test("answers a command after its events are on disk and in its state", async () => {
    const answered = execute(openLeague("first")).then((answer) => ({
      answer,
      onDisk: [afterCrash()],
      shown: state(),
    }));
    const before = afterCrash();
    expect(state().leagues.size).toBe(0);
    expect((await before).leagues.size).toBe(0);
    const { answer, onDisk, shown } = await answered;
    expect(answer).toEqual(ok("first"));
    expect(shown.leagues.get("first")).toMatchObject({ version: 1 });
    expect(await Promise.all(onDisk)).toEqual([shown]);
  });

  test("stores an event with its format version and the time of its command", async () => {
    await execute(openLeague("first"));
    const [event] = await opened.store.readEvents("league:first");
    expect(event?.type).toBe("opened");
    expect(JSON.parse(event?.body ?? "")).toMatchObject({ v: 1, at: AT, type: "opened", league_id: "first" });
  });

  test("decides the commands of one turn one after the other and appends their events at once", async () => {
    await execute(openLeague("first"));
    const before = opened.appends();
    const answers = await Promise.all([1, 2, 3].map(() => execute(enter("first"))));
    expect(answers).toMatchObject([{ value: "P1" }, { value: "P2" }, { error: { error_code: "L002" } }]);
    expect(opened.appends()).toBe(before + 1);
    expect(await opened.store.readEvents("league:first")).toHaveLength(3);
  });

  test("decides commands that arrive during a commit on the state after it", async () => {
    const seen: number[] = [];
    const observe: Decide<null> = ({ leagues }) => {
      seen.push(leagues.get("first")?.entrants.size ?? -1);
      return ok({ leagueEvents: [{ leagueId: "second", event: entered(`P9${seen.length}`) }], reply: null });
    };
    await Promise.all([execute(openLeague("first")), execute(openLeague("second"))]);
    let laterCommands: Promise<unknown> | null = null;
    const first = execute((current, at) => {
      laterCommands ??= Promise.all([execute(observe), execute(observe)]);
      return enter("first")(current, at);
    });
    await first;
    await laterCommands;
    expect(seen).toEqual([1, 1]);
    expect(opened.appends()).toBe(3);
  });

  test("answers a rejection after the commit of earlier events in its batch, because it may depend on them", async () => {
    await execute(openLeague("first"));
    const order: string[] = [];
    opened.ledger.onCommit(() => order.push("commit"));
    const commands = [1, 2, 3].map(() =>
      execute(enter("first")).then(({ ok }) => order.push(ok ? "accepted" : "rejected")),
    );
    await Promise.all(commands);
    expect(order).toEqual(["commit", "accepted", "accepted", "rejected"]);
  });

  test("calls listeners for each commit, also without events, in order, with the states before and after it", async () => {
    const commits: Commit[] = [];
    const onDisk: Promise<ManagerState>[] = [];
    const remove = opened.ledger.onCommit((commit) => {
      expect(opened.ledger.state).toBe(commit.state);
      onDisk.push(afterCrash());
      commits.push(commit);
    });
    await Promise.all([execute(openLeague("first")), execute(enter("first"))]);
    await execute(() => ok({ writes: [profile("P1", "renamed")], reply: null }));
    await execute(enter("first"));
    await execute(enter("first"));
    remove();
    await execute(openLeague("second"));
    const events = commits.map((commit) => commit.events.map(({ event, version }) => `${event.type} ${version}`));
    expect(events).toEqual([
      ["opened 1", "player_entered 2", "registered 1"],
      [],
      ["player_entered 3", "registered 1"],
    ]);
    expect(commits.map(({ before }) => before.agents.size)).toEqual([0, 1, 1]);
    expect(commits[2]?.before.agents.get("P1")?.name).toBe("renamed");
    expect(await Promise.all(onDisk)).toEqual(commits.map((commit) => commit.state));
  });

  test("answers the command and calls the other listeners if a listener throws", async () => {
    const called: string[] = [];
    for (const name of ["first", "second"]) {
      opened.ledger.onCommit(() => {
        called.push(name);
        throw name;
      });
    }
    expect(await execute(openLeague("first"))).toEqual(ok("first"));
    expect(called).toEqual(["first", "second"]);
    await systemClock.nextTurn();
    expect(opened.uncaught).toEqual(["first", "second"]);
  });

  test("answers a command without events and writes without an append", async () => {
    expect(await execute(({ leagues }) => ok({ reply: leagues.size }))).toEqual(ok(0));
    expect(opened.appends()).toBe(0);
  });

  test("fails only the command whose decision throws or has an event that cannot follow or cannot be stored", async () => {
    const broken: Decide<null>[] = [
      () => {
        throw new Error("our bug");
      },
      () =>
        ok({
          leagueEvents: [
            { leagueId: "first", event: entered("P8") },
            { leagueId: "first", event: { type: "started" } },
          ],
          writes: [profile("P8")],
          reply: null,
        }),
      () =>
        ok({ leagueEvents: [{ leagueId: "first", event: { ...entered("P8"), player_id: 8 } as never }], reply: null }),
    ];
    const settled = await Promise.allSettled([
      execute(openLeague("first")),
      ...broken.map(execute),
      execute(enter("first")),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected", "fulfilled"]);
    expect([...(state().leagues.get("first")?.entrants.keys() ?? [])]).toEqual(["P1"]);
    expect([...(await opened.store.loadProfiles()).keys()]).toEqual(["P1"]);
    expect(await afterCrash()).toEqual(state());
  });

  test("fails every command of a batch that cannot be appended, and continues on the committed state", async () => {
    await execute(openLeague("first"));
    const committed = state();
    opened.db.exec("PRAGMA busy_timeout = 1");
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    const commits: Commit[] = [];
    opened.ledger.onCommit((commit) => commits.push(commit));
    const failed = await Promise.allSettled([1, 2, 3].map(() => execute(enter("first"))));
    other.exec("ROLLBACK");
    other.close();
    const reason = expect.objectContaining({ message: expect.stringContaining("locked") });
    expect(failed).toEqual(Array(3).fill({ status: "rejected", reason }));
    expect(failed.every((result) => result.status === "rejected" && result.reason instanceof StoreBusy)).toBe(true);
    expect([state(), commits, opened.fatal]).toEqual([committed, [], []]);
    expect(state()).toBe(committed);
    expect(await execute(enter("first"))).toEqual(ok("P1"));
    expect(await afterCrash()).toEqual(state());
  });

  test("reports a fatal error if another process has appended to a stream or a row violates a constraint", async () => {
    await execute(openLeague("first"));
    const duplicateToken: Decide<null> = () => {
      const row = { name: "n", salt: "s", endpoint: "http://n", tokenHash: "one" };
      return ok({ writes: ["P1", "P2"].map((agentId) => ({ type: "profile", agentId, profile: row })), reply: null });
    };
    await expect(execute(duplicateToken)).rejects.toThrow("UNIQUE");
    expect(opened.fatal.map(({ message }) => message)).toEqual([expect.stringContaining("UNIQUE")]);
    const other = await ledgerOn(file);
    await other.ledger.execute(enter("first"));
    other.db.close();
    await expect(execute(enter("first"))).rejects.toThrow(VersionConflict);
    expect(opened.fatal).toHaveLength(2);
    expect(opened.fatal[1]).toBeInstanceOf(VersionConflict);
  });

  test("settles when all earlier commands are answered", async () => {
    const answered: unknown[] = [];
    for (const id of LEAGUE_IDS) void execute(openLeague(id)).then((answer) => answered.push(answer));
    await opened.ledger.settled();
    expect(answered).toHaveLength(2);
    await opened.ledger.settled();
  });

  test("executes at most 100 commands in a batch, and yields to other work between batches", async () => {
    await execute(openLeague("first"));
    const seen: number[] = [];
    let decided = 0;
    const count: Decide<number> = () => ok({ reply: ++decided });
    setImmediate(function observe() {
      seen.push(decided);
      if (decided < 250) setImmediate(observe);
    });
    const answers = await Promise.all(Array.from({ length: 250 }, () => execute(count)));
    expect(answers).toHaveLength(250);
    expect(seen.filter((n) => n > 0 && n < 250).length).toBeGreaterThanOrEqual(2);
    expect(seen.every((n) => n % 100 === 0 || n === 250)).toBe(true);
  });

  test("settles without waiting for later commands", async () => {
    await execute(openLeague("first"));
    let later = 0;
    const executeNext = (): void => {
      if (later < 100) void execute(() => ok({ reply: ++later })).then(executeNext);
    };
    executeNext();
    await opened.ledger.settled();
    expect(later).toBeLessThan(5);
    while (later < 100) await opened.ledger.settled();
  });

  test("has the leagues in the order of the config instead of that of their opening", async () => {
    for (const id of ["second", "first"]) await execute(openLeague(id));
    expect([...state().leagues.keys()]).toEqual(["first", "second"]);
    expect([...(await afterCrash()).leagues.keys()]).toEqual(["first", "second"]);
  });

  test("keeps only the entrants and the status of a league that the config no longer lists, and accepts no events for it", async () => {
    for (const command of [openLeague("first"), openLeague("second"), enter("second")]) await execute(command);
    opened.db.close();
    opened = await ledgerOn(file, { leagueIds: ["first", "third"] });
    await expect(execute(openLeague("second"))).rejects.toThrow("an event belongs to a league of the config");
    await execute(openLeague("third"));
    expect([[...state().leagues.keys()], state().formerLeagues]).toEqual([
      ["first", "third"],
      [{ leagueId: "second", entrants: new Map([["P1", expect.any(String)]]), status: "open" }],
    ]);
  });

  test("has a league that was opened like one of the config after those of the config, also after a crash", async () => {
    for (const command of [openLeague("a like second", "second"), openLeague("second"), openLeague("first")])
      await execute(command);
    await execute(enter("a like second"));
    const expected = ["first", "second", "a like second"];
    expect([...state().leagues.keys()]).toEqual(expected);
    expect(await afterCrash()).toEqual(state());
    expect([...(await afterCrash()).leagues.keys()]).toEqual(expected);
    await expect(execute(openLeague("other", "gone"))).rejects.toThrow("an event belongs to a league of the config");
    opened.db.close();
    opened = await ledgerOn(file, { leagueIds: ["first"] });
    expect([...state().leagues.keys()]).toEqual(["first"]);
    expect(
      state()
        .formerLeagues.map(({ leagueId }) => leagueId)
        .sort(),
    ).toEqual(["a like second", "second"]);
  });

  test("updates the state of an agent whose profile is written or erased, with or without an event of the agent", async () => {
    await Promise.all([execute(openLeague("first")), execute(enter("first")), execute(enter("first"))]);
    const tokenReset = { agentId: "P1", event: { type: "token_reset" } } as const;
    await execute(() => ok({ agentEvents: [tokenReset], writes: [profile("P1", "new")], reply: null }));
    await execute(() => ok({ writes: [{ type: "erase_profile", agentId: "P2" }], reply: null }));
    expect(state().agents.get("P1")).toMatchObject({ name: "new", endpoint: "http://new", version: 2 });
    expect(state().agents.get("P2")).toMatchObject({ name: "P2", tokenHash: "", version: 1 });
    expect(await afterCrash()).toEqual(state());
  });

  test("removes a forgotten agent from the state, and continues its stream when its id is registered again", async () => {
    await execute(openLeague("first"));
    await execute(enter("first"));
    const forget =
      (agentId: string): Decide<null> =>
      () =>
        ok({
          agentEvents: [{ agentId, event: { type: "forgotten" } }],
          writes: [{ type: "erase_profile", agentId }],
          reply: null,
        });
    await execute(() =>
      ok({ agentEvents: [{ agentId: "REF12", event: registered("REF12", "referee") }], reply: null }),
    );
    await execute(forget("P1"));
    await execute(forget("REF12"));
    expect([state().agents.size, state().lastForgotten]).toEqual([0, { player: 1, referee: 12 }]);
    expect(await afterCrash()).toEqual(state());
    opened.db.close();
    opened = await ledgerOn(file);
    const registerAgain: Decide<null> = () =>
      ok({ agentEvents: [{ agentId: "P1", event: registered("P1") }], writes: [profile("P1")], reply: null });
    await execute(registerAgain);
    expect(state().agents.get("P1")).toMatchObject({ name: "P1", version: 3 });
    expect(await afterCrash()).toEqual(state());
  });
});
