import { describe, expect, test } from "vitest";
import type { StartGame } from "#shared/protocol/messages.ts";
import { removePlayer } from "../commands/agent-commands.ts";
import type { Ledger } from "../ledger.ts";
import { lost, played } from "../testing/results.ts";
import { startTestLeague, type TestLeague } from "./testing/league.ts";

const SWISS = { format: "swiss", formatOptions: { rounds: 3 } };
const roundCount = (league: TestLeague): number => league.league().rounds.length;
const playersOf = ({ roles }: StartGame): readonly string[] => Object.values(roles).map(({ player_id }) => player_id);

/** Reports the orders of REF01 that are not reported yet, won by their first player, until the league is completed. */
async function playAll(league: TestLeague, reported = new Set<string>()): Promise<void> {
  const isOver = () => expect(league.league().status).toBe("completed");
  await league.eventually(isOver, async () => {
    for (const order of league.agent("REF01").orders()) {
      if (reported.has(order.match_id)) continue;
      reported.add(order.match_id);
      await league.report("REF01", played(order));
    }
  });
}

describe("a Swiss league", () => {
  test("pairs the next round after the last match of a round, without rematches, and completes after its rounds", async () => {
    const league = await startTestLeague({ players: 4, settings: SWISS });
    await league.playRound(1);
    await league.eventually(() => expect(roundCount(league)).toBe(2));
    expect(league.league().isPairingComplete).toBe(false);
    await league.playRound(2);
    await league.playRound(3);
    await league.eventually(() => expect(league.league()).toMatchObject({ status: "completed", matchCount: 6 }));
    const pairs = league.league().rounds.flatMap(({ matches }) => matches.map(({ players }) => [...players].sort()));
    expect(new Set(pairs.map(String)).size).toBe(6);
  });

  test("pairs the same rounds if the manager restarts in the middle of a round and between two rounds", async () => {
    const rounds = async (isRestarted: boolean) => {
      const league = await startTestLeague({ players: 4, settings: SWISS });
      for (const roundId of [1, 2, 3]) {
        await league.eventually(() =>
          expect(league.round(roundId)).toMatchObject([{ status: "assigned" }, { status: "assigned" }]),
        );
        const [first, second] = league.round(roundId);
        await league.report("REF01", played(await league.order("REF01", first?.matchId ?? "")));
        if (isRestarted) await league.restart();
        await league.report("REF01", played(await league.order("REF01", second?.matchId ?? "")));
        // The last result of a round and the next round are one commit, so this restart is between two rounds.
        expect(roundCount(league)).toBe(Math.min(roundId + 1, 3));
        if (isRestarted) await league.restart();
      }
      await league.eventually(() => expect(league.league().status).toBe("completed"));
      return league.league().rounds.map(({ matches, byes }) => [matches.map(({ players }) => players), byes]);
    };
    expect(await rounds(true)).toEqual(await rounds(false));
  });

  test("does not pair a player that the operator has removed, and gives byes to the others", async () => {
    const league = await startTestLeague({ players: 4, settings: SWISS });
    await league.order("REF01", "R1M2");
    await league.ledger().execute(removePlayer("P04"));
    await league.playRound(1);
    await league.playRound(2);
    await league.playRound(3);
    await league.eventually(() => expect(league.league().status).toBe("completed"));
    const { rounds, departed } = league.league();
    expect(departed).toEqual(["P04"]);
    for (const { matches, byes } of rounds.slice(1)) {
      expect([...matches.flatMap(({ players }) => players), ...byes].sort()).toEqual(["P01", "P02", "P03"]);
      expect(byes).toHaveLength(1);
    }
    const announcements = league.agent("P01").of("ROUND_ANNOUNCEMENT");
    expect(announcements.map(({ payload }) => payload.byes)).toEqual([
      undefined,
      ...rounds.slice(1).map(({ byes }) => byes),
    ]);
  });
});

describe("a match of many games", () => {
  const MATCH = { format: "match", formatOptions: { games: 12 } };

  test("plays as many matches at the same time as its referee can have, and more when one is completed", async () => {
    const league = await startTestLeague({ maxConcurrent: 4, settings: MATCH });
    await league.eventually(() => expect(league.agent("REF01").orders()).toHaveLength(4));
    expect(league.league()).toMatchObject({ matchCount: 4, openRounds: [1, 2], currentRound: 1 });
    // The second round is completed before the first.
    for (const matchId of ["R2M1", "R2M2"]) await league.report("REF01", played(await league.order("REF01", matchId)));
    await league.order("REF01", "R3M2");
    expect(league.league()).toMatchObject({ matchCount: 6, openRounds: [1, 3], currentRound: 1 });
    await playAll(league, new Set(["R2M1", "R2M2"]));
    expect(league.league()).toMatchObject({ matchCount: 12, completedCount: 12, openRounds: [], currentRound: null });
  });

  test("continues after a restart in the middle", async () => {
    const league = await startTestLeague({ maxConcurrent: 4, settings: MATCH });
    await league.report("REF01", played(await league.order("REF01", "R2M2")));
    await league.restart();
    await playAll(league);
    const { rounds } = league.league();
    expect(rounds.map(({ matches }) => matches.length)).toEqual(Array(6).fill(2));
    expect(rounds.flatMap(({ matches }) => matches.map(({ outcome }) => outcome?.termination))).toEqual(
      Array(12).fill("normal"),
    );
  });

  test("is announced round by round to the players of the round, and to no referee", async () => {
    const league = await startTestLeague({
      players: 3,
      maxConcurrent: 2,
      settings: { ...MATCH, formatOptions: { games: 2 } },
    });
    await playAll(league);
    const announced = (id: string) =>
      league
        .agent(id)
        .of("ROUND_ANNOUNCEMENT")
        .map(({ payload }) => payload.round_id);
    const { rounds } = league.league();
    const roundsOf = (id: string) =>
      rounds.filter(({ matches }) => matches.some(({ players }) => players.includes(id))).map(({ roundId }) => roundId);
    for (const id of ["P01", "P02", "P03"]) expect(announced(id)).toEqual(roundsOf(id));
    expect(announced("REF01")).toEqual([]);
    expect(
      league
        .agent("P01")
        .of("ROUND_END")
        .map(({ payload }) => payload.round_id),
    ).toEqual([rounds.length]);
  });

  test("asks its format only after a change", async () => {
    let commands = 0;
    const counting = (ledger: Ledger): Ledger => ({
      onCommit: ledger.onCommit.bind(ledger),
      settled: ledger.settled.bind(ledger),
      get state() {
        return ledger.state;
      },
      execute(decide) {
        commands++;
        return ledger.execute(decide);
      },
    });
    const league = await startTestLeague({ maxConcurrent: 4, settings: MATCH, ledger: counting });
    await league.order("REF01", "R2M2");
    await league.clock.advance(5_000);
    const before = commands;
    await league.clock.advance(60_000);
    expect(commands).toBe(before);
  });
});

describe("a sequential test", () => {
  test("ends when it is decided, cancels the open matches and takes them from their referee", async () => {
    const SPRT = { format: "sprt", formatOptions: { elo0: 0, elo1: 300 } };
    const league = await startTestLeague({ maxConcurrent: 8, settings: SPRT });
    const reported = new Set<string>();
    await league.eventually(
      () => expect(league.league().status).toBe("completed"),
      async () => {
        for (const order of league.agent("REF01").orders()) {
          // The matches of the first round stay open. P01 wins all others.
          if (order.round_id === 1 || reported.has(order.match_id)) continue;
          reported.add(order.match_id);
          const isFirst = playersOf(order)[0] === "P01";
          await league.report("REF01", isFirst ? played(order) : lost(order));
        }
      },
    );
    const { rounds, matchCount, completedCount } = league.league();
    expect(rounds.at(0)?.matches).toMatchObject([
      { status: "completed", refereeId: null, outcome: { termination: "aborted", reason: "cancelled", points: [] } },
      { status: "completed", refereeId: null, outcome: { termination: "aborted", reason: "cancelled", points: [] } },
    ]);
    expect(completedCount).toBe(matchCount);
    const withdrawn = await league.eventually(() => {
      const matches = league
        .agent("REF01")
        .of("MATCH_WITHDRAWN")
        .map(({ payload }) => payload.match_id);
      expect(matches).toEqual(expect.arrayContaining(["R1M1", "R1M2"]));
      return matches;
    });
    expect(new Set(withdrawn).size).toBe(withdrawn.length);
    const late = await league.report("REF01", played(await league.order("REF01", "R1M1")));
    expect(late).toMatchObject({ ok: false, error: { error_code: "L004" } });
  });
});
