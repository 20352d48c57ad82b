import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemIds } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Decide } from "../ledger.ts";
import { enter, LEAGUE_IDS, openLeague, profile } from "../store/testing/ledger.ts";
import { loadSharedState, SharedLedger } from "./shared-ledger.ts";
import { enterNext, entrantsAt, TestedLedgers, type TestedManager } from "./testing/tested-ledgers.ts";

let ledgers: TestedLedgers;
let a: TestedManager;
let b: TestedManager;

const execute: TestedLedgers["execute"] = (manager, decide) => ledgers.execute(manager, decide);

beforeEach(async () => {
  ledgers = new TestedLedgers();
  a = await ledgers.start();
  b = await ledgers.start();
});
afterEach(() => ledgers.stop());

describe("the ledgers of several managers", () => {
  test("decide on the state after the commits of all managers, and have the same state", async () => {
    expect(await execute(a, openLeague("first"))).toEqual(ok("first"));
    expect(await execute(b, enter("first"))).toEqual(ok("P1"));
    expect(await execute(a, enter("first"))).toEqual(ok("P2"));
    expect(await execute(b, enter("first"))).toMatchObject({ ok: false, error: { error_code: "L002" } });
    await ledgers.clock.advance(100);
    expect(b.ledger.state).toEqual(a.ledger.state);
    expect(await ledgers.storedState()).toEqual(a.ledger.state);
    expect(a.ledger.state.agents.get("P1")).toMatchObject({ name: "P1", tokenHash: "hash of P1" });
    expect(
      [a.commits, b.commits].map((commits) => commits.map(({ events }) => events.map(({ event }) => event.type))),
    ).toEqual([
      [["opened"], ["player_entered", "registered"], ["player_entered", "registered"]],
      [["opened"], ["player_entered", "registered"], ["player_entered", "registered"]],
    ]);
    expect(b.commits.map(({ before }) => before.agents.size)).toEqual([0, 0, 1]);
  });

  test("date their commits in their order, although a clock is behind the others", async () => {
    const behind = await ledgers.start({ behindMs: 500 });
    await execute(a, openLeague("first"));
    await execute(behind, enter("first"));
    await execute(behind, enter("first"));
    await ledgers.clock.advance(600);
    await execute(behind, enterNext());
    const dates = behind.commits.flatMap(({ events }) => events.map(({ event }) => event.at));
    expect(dates.length).toBeGreaterThan(3);
    expect(dates).toEqual(dates.toSorted());
    expect(dates.at(1)).toBe(dates.at(0));
  });

  test("number concurrent commands in one order", async () => {
    await execute(a, openLeague("first"));
    const answers = await ledgers.settled(
      Promise.all(Array.from({ length: 60 }, (_, n) => [a, b][n % 2]?.ledger.execute(enterNext()))),
    );
    const replies = answers.map((answer) => (answer?.ok ? answer.value : null));
    expect(new Set(replies).size).toBe(60);
    await ledgers.clock.advance(100);
    expect(entrantsAt(a)).toEqual(Array.from({ length: 60 }, (_, n) => `P${n + 1}`));
    expect(entrantsAt(b)).toEqual(entrantsAt(a));
  });

  test("read the commits of others without a command, several at once", async () => {
    await execute(a, openLeague("first"));
    let reads = 0;
    const { commitsAfter } = b.database;
    const counted = (after: number) => {
      reads++;
      return commitsAfter(after);
    };
    Object.assign(b.database, { commitsAfter: counted });
    for (let n = 0; n < 100; n++) {
      void a.ledger.execute(enterNext());
      await ledgers.clock.advance(1);
    }
    await ledgers.clock.advance(100);
    expect(entrantsAt(b)).toHaveLength(100);
    expect(reads).toBeLessThan(20);
  });

  test("commit the follow-ups of a command with it, also those of follow-ups, and ignore rejected ones", async () => {
    await ledgers.settled(b.ledger.stop());
    const passes: number[] = [];
    b = await ledgers.start({
      followUps: (before, state) => {
        passes.push(state.agents.size);
        const count = state.leagues.get("first")?.entrants.size ?? 0;
        const isChanged = before.leagues.get("first") !== state.leagues.get("first");
        const rejected: Decide<null> = () => err(protocolError("L005", "not now"));
        const failing: Decide<null> = () => {
          throw new Error("our bug");
        };
        return isChanged && count < 3 ? [rejected, failing, enterNext()] : [];
      },
    });
    await execute(a, openLeague("first"));
    expect(await execute(b, enterNext())).toEqual(ok("P1"));
    expect(b.commits.at(-1)?.events.map(({ event }) => event.type)).toEqual(Array(3).fill("player_entered"));
    expect(ledgers.newest()).toBe(2);
    expect(passes.length).toBeLessThan(5);
  });

  test("ignore the events of a league that is not in their config, and can name it later", async () => {
    await ledgers.settled(b.ledger.stop());
    b = await ledgers.start({ leagueIds: ["second"] });
    await execute(a, openLeague("first"));
    await execute(a, openLeague("second"));
    await execute(a, enter("first"));
    await execute(b, enterNext("second"));
    expect([[...b.ledger.state.leagues.keys()], [...b.ledger.state.agents.keys()]]).toEqual([["second"], ["P1"]]);
    expect(await execute(a, enterNext("second"))).toEqual(ok("P2"));
  });

  test("have a league that one of them opens like one of their config, and know the ids of the other ones", async () => {
    const c = await ledgers.start({ leagueIds: ["second"] });
    await execute(a, openLeague("first"));
    await execute(a, openLeague("like first", "first"));
    await execute(b, enterNext("like first"));
    await ledgers.clock.advance(100);
    expect([...b.ledger.state.leagues.keys()]).toEqual(["first", "like first"]);
    expect(a.ledger.state).toEqual(b.ledger.state);
    expect(await ledgers.storedState()).toEqual(b.ledger.state);
    await execute(c, openLeague("second"));
    expect([...c.ledger.state.leagues.keys()]).toEqual(["second"]);
    expect(c.ledger.state.formerLeagues.map(({ leagueId }) => leagueId)).toEqual(["first", "like first"]);
    const later = await ledgers.start();
    expect([...later.ledger.state.leagues.keys()]).toEqual(["first", "second", "like first"]);
  });

  test("have the profile that another manager has written or erased", async () => {
    await execute(a, openLeague("first"));
    await execute(a, enter("first"));
    await execute(b, () => ok({ writes: [profile("P1", "Ann")], reply: null }));
    await ledgers.clock.advance(100);
    expect(a.ledger.state.agents.get("P1")).toMatchObject({ name: "Ann" });
    await execute(b, () => ok({ writes: [{ type: "erase_profile", agentId: "P1" }], reply: null }));
    await ledgers.clock.advance(100);
    expect(a.ledger.state.agents.get("P1")).toMatchObject({ name: "P1", tokenHash: "" });
    expect(a.ledger.state).toEqual(await ledgers.storedState());
  });

  test("start on a state that was loaded while others committed", async () => {
    await execute(a, openLeague("first"));
    const database = await ledgers.run.connect();
    const { streams } = database;
    // The players that are entered between the two reads are in the state, although their commits are after `number`.
    Object.assign(database, {
      async streams(prefix: string) {
        await a.ledger.execute(enter("first"));
        return streams(prefix);
      },
    });
    const loaded = await ledgers.settled(loadSharedState(database, LEAGUE_IDS));
    const fatal: Error[] = [];
    const ledger = new SharedLedger({
      database,
      loaded,
      clock: ledgers.clock,
      ids: systemIds,
      leagueIds: LEAGUE_IDS,
      onFatal: (error) => void fatal.push(error),
    });
    await ledgers.clock.advance(100);
    expect([loaded.number, ledgers.newest(), fatal]).toEqual([1, 3, []]);
    expect(ledger.state).toEqual(a.ledger.state);
    await ledgers.settled(ledger.stop());
  });
});
