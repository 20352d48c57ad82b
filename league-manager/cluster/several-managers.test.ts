import { describe, expect, test } from "vitest";
import type { StartGame } from "#shared/protocol/messages.ts";
import { startLeague } from "../commands/league-commands.ts";
import { SeveralManagers, startTwoManagers } from "../effects/testing/several-managers.ts";

const NAMES = ["A", "B", "C", "D", "E", "F", "G", "H"];

async function registerPlayers(run: SeveralManagers, names: readonly string[] = NAMES): Promise<void> {
  for (const [index, name] of names.entries()) await run.registerPlayer(index % 2, name);
}

/** Reports the results of all matches that were handed over, in turn at both managers. */
function reporter(run: SeveralManagers): () => Promise<void> {
  const reported = new Set<StartGame["seed"]>();
  return async () => {
    for (const order of run.orders()) {
      if (reported.has(order.seed) || run.match(order.league_id, order.match_id)?.status !== "assigned") continue;
      reported.add(order.seed);
      await run.report(reported.size % 2, order);
    }
  };
}

const isCompleted =
  (run: SeveralManagers, leagueId = "rps") =>
  (): void =>
    expect([0, 1].map((number) => run.league(leagueId, number).status)).toEqual(["completed", "completed"]);

describe("two managers", () => {
  test("share the matches of a league, each match is handed over by one, and results arrive at any", async () => {
    const run = await startTwoManagers({ maxJobs: 2 });
    await run.registerReferee(0, "one", 2);
    await run.registerReferee(1, "two", 1);
    const most = new Map<string, number>();
    run.at(0).ledger.onCommit(({ state }) => {
      for (const [id, count] of state.leagues.get("rps")?.occupied ?? [])
        most.set(id, Math.max(most.get(id) ?? 0, count));
    });
    await registerPlayers(run);
    await run.eventually(isCompleted(run), reporter(run));
    const managersOf = new Map<string, Set<number>>();
    for (const { by, envelope } of run.ofType("START_GAME")) {
      const { match_id, epoch } = envelope.payload as StartGame;
      const key = `${match_id}/${epoch}`;
      managersOf.set(key, (managersOf.get(key) ?? new Set()).add(by));
    }
    expect(managersOf.size).toBe(28);
    expect([...managersOf.values()].every(({ size }) => size === 1)).toBe(true);
    expect(new Set([...managersOf.values()].flatMap((managers) => [...managers]))).toEqual(new Set([0, 1]));
    expect([...most].sort()).toEqual([
      ["REF01", 2],
      ["REF02", 1],
    ]);
    expect(await run.settled(run.at(0).database.queue.stats())).toEqual({ waiting: 0, held: 0 });
  });

  test("announce each round once, and invite a player only after its announcement, whichever manager sends the invitation", async () => {
    const run = await startTwoManagers({ minPlayers: 4, maxJobs: 1 });
    await run.registerReferee(0, "one", 1);
    await run.registerReferee(0, "two", 1);
    await registerPlayers(run, ["A", "B", "C", "D"]);
    await run.eventually(isCompleted(run), reporter(run));
    const announced = run.ofType("ROUND_START");
    expect(announced.every(({ by }) => by === 0)).toBe(true);
    expect(new Set(run.ofType("START_GAME").map(({ by }) => by))).toEqual(new Set([0, 1]));
    for (const { envelope } of run.ofType("START_GAME")) {
      const order = envelope.payload as StartGame;
      const index = run.sent.findIndex((sent) => sent.envelope === envelope);
      for (const { endpoint } of Object.values(order.roles)) {
        const isOwn = ({ to, envelope: { payload } }: (typeof announced)[number]): boolean =>
          to === endpoint && payload.round_id === order.round_id;
        expect(
          run.sent.slice(0, index).filter((sent) => sent.envelope.type === "ROUND_START" && isOwn(sent)),
        ).toHaveLength(1);
      }
    }
    const referees = run
      .ofType("ROUND_ANNOUNCEMENT")
      .flatMap(({ envelope }) =>
        (envelope.payload.matches as { referee_endpoint?: string }[]).map(
          ({ referee_endpoint }) => typeof referee_endpoint,
        ),
      );
    expect(new Set(referees)).toEqual(new Set(["string"]));
  });

  test("invite a player whose announcement is not answered after the time limit", async () => {
    const run = await startTwoManagers({ minPlayers: 2 });
    await run.registerReferee(0, "one", 4);
    await run.registerPlayer(0, "A");
    const agent = run.agents.get("A");
    if (agent) agent.answer = () => new Promise(() => {});
    await run.registerPlayer(0, "B");
    // No manager owns the league, so that no announcement is sent.
    await run.eventually(() => expect(run.league("rps").currentRound).toBe(1));
    run.changeOwner(2);
    await run.eventually(() => expect(run.orders()).toHaveLength(1));
  });

  test("continue the matches and the league of a manager that stops", async () => {
    const run = await startTwoManagers();
    await run.registerReferee(0, "one", 64);
    await registerPlayers(run);
    await run.eventually(() => expect(run.orders()).toHaveLength(4));
    const mine = new Set(
      run.ofType("START_GAME").flatMap(({ by, envelope }) => (by === 0 ? [envelope.payload.match_id] : [])),
    );
    expect(mine.size).toBeGreaterThan(0);
    const before = run.sent.length;
    await run.settled(run.at(0).effects.stop());
    run.changeOwner(1);
    await run.eventually(() => {
      const again = run.sent.slice(before).filter(({ envelope }) => envelope.type === "START_GAME");
      expect(new Set(again.map(({ by, envelope }) => `${by} ${envelope.payload.match_id}`))).toEqual(
        new Set([...mine].map((matchId) => `1 ${matchId}`)),
      );
    });
    expect(
      run
        .league("rps", 1)
        .rounds.at(0)
        ?.matches.map(({ epoch }) => epoch),
    ).toEqual([1, 1, 1, 1]);
    await run.eventually(isCompleted(run), reporter(run));
  });

  test("use a referee that registers again at one of them immediately", async () => {
    const run = await startTwoManagers();
    await run.registerReferee(0, "one", 64);
    const agent = run.agents.get("one");
    if (agent) agent.isHealthy = false;
    await run.eventually(() =>
      expect(run.managers.map(({ effects }) => effects.silentReferees())).toEqual([["REF01"], ["REF01"]]),
    );
    await run.registerReferee(0, "one", 32);
    await run.settled(run.at(1).ledger.settled());
    while (run.at(1).ledger.state.agents.get("REF01")?.maxConcurrent !== 32) await run.clock.advance(1);
    expect(run.managers.map(({ effects }) => effects.silentReferees())).toEqual([[], []]);
  });
});

test("a manager that no referee answers gives its jobs to the others, and takes no match from its referee", async () => {
  const run = await startTwoManagers({ maxJobs: 2 });
  await run.registerReferee(0, "one", 64);
  await registerPlayers(run);
  await run.eventually(() => expect(new Set(run.ofType("START_GAME").map(({ by }) => by))).toEqual(new Set([0, 1])));
  run.cutOff.add(1);
  await run.eventually(() => expect(run.at(1).effects.silentReferees()).toEqual(["REF01"]));
  const before = run.sent.length;
  await run.eventually(isCompleted(run), reporter(run));
  expect(new Set(run.orders().map(({ epoch }) => epoch))).toEqual(new Set([1]));
  const later = run.sent.slice(before).filter(({ envelope }) => envelope.type === "START_GAME");
  expect(new Set(later.map(({ by }) => by))).toEqual(new Set([0]));
});

test("matches that no referee can play do not keep a manager from taking the jobs of others", async () => {
  const run = new SeveralManagers({
    leagueIds: ["chess", "rps"],
    games: { chess: "chess.v1" },
    minPlayers: 36,
    maxJobs: 64,
  });
  await run.start();
  await run.registerReferee(0, "one", 1);
  const names = Array.from({ length: 36 }, (_, n) => `chess ${n}`);
  for (const name of names) await run.registerPlayer(0, name, { game_types: ["chess.v1"] });
  await run.eventually(() => expect(run.league("chess").currentRound).toBe(1));
  for (const name of ["A", "B"]) await run.registerPlayer(0, name);
  await run.execute(0, startLeague("rps", "seed"));
  await run.eventually(() => expect(run.orders()).toMatchObject([{ league_id: "rps" }]));
});
