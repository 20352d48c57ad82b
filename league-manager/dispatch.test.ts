import { describe, expect, test } from "vitest";
import { isSignedFor } from "#shared/protocol/signing.ts";
import type { Match } from "./league.ts";
import { matchesOfRound, startDispatcher, startReferee } from "./testing-dispatch.ts";

/** Resolves when so many orders have come in all. */
function counter(wanted: number): { readonly count: () => void; readonly reached: Promise<void> } {
  const reached = Promise.withResolvers<void>();
  let seen = 0;
  return {
    count: () => {
      if (++seen === wanted) reached.resolve();
    },
    reached: reached.promise,
  };
}

describe("dispatch", () => {
  test("a referee gets no more matches at a time than its max_concurrent_matches", async () => {
    const { count, reached } = counter(3);
    const first = await startReferee("REF01", 2, count);
    const second = await startReferee("REF02", 1, count);
    const dispatcher = startDispatcher([first, second]);
    const round = matchesOfRound(5);
    dispatcher.enqueue(round);
    await reached;
    expect([first, second].map(({ agent }) => dispatcher.assignedTo(agent.id).length)).toEqual([2, 1]);
    expect(round.filter((match) => match.status === "scheduled")).toHaveLength(2);
  });

  test("a match that is done makes place for the next, until all were played", async () => {
    const only = await startReferee("REF01", 2);
    const dispatcher = startDispatcher([only]);
    const round = matchesOfRound(5);
    dispatcher.enqueue(round);
    let most = 0;
    for (const match of round) {
      most = Math.max(most, dispatcher.assignedTo("REF01").length);
      expect(match.refereeId).toBe("REF01");
      match.status = "completed";
      dispatcher.release(match);
    }
    expect(most).toBe(2);
    expect(dispatcher.assignedTo("REF01")).toEqual([]);
  });

  test("the matches of a round are spread over the referees, alike each time", async () => {
    const { count, reached } = counter(4);
    const referees = [await startReferee("REF01", 10, count), await startReferee("REF02", 10, count)];
    const dispatcher = startDispatcher(referees);
    const round = matchesOfRound(4);
    dispatcher.enqueue(round);
    expect(round.map((match) => match.refereeId)).toEqual(["REF01", "REF02", "REF01", "REF02"]);
    await reached;
    expect(referees.map(({ orders }) => orders.length)).toEqual([2, 2]);
  });

  test("a match of a game that no referee plays waits, which is said once", async () => {
    const only = await startReferee("REF01", 2);
    const said: string[] = [];
    const onNoReferee = (match: Match): void => void said.push(match.matchId);
    const dispatcher = startDispatcher([only], { gameOf: () => "chess.v1", onNoReferee });
    const round = matchesOfRound(2);
    dispatcher.enqueue(round.slice(0, 1));
    dispatcher.enqueue(round.slice(1));
    expect(said).toEqual(["R1M1", "R1M2"]);
    expect(round.map(({ status }) => status)).toEqual(["scheduled", "scheduled"]);
  });

  test("what a referee is told is signed with its own token's hash (PROTOCOL.md, section 3)", async () => {
    const { count, reached } = counter(1);
    const only = await startReferee("REF01", 1, count);
    const dispatcher = startDispatcher([only]);
    dispatcher.enqueue(matchesOfRound(1));
    await reached;
    expect(isSignedFor("token of REF01", "rps/R1M1", only.signatures[0] ?? "")).toBe(true);
    expect(isSignedFor("token of REF02", "rps/R1M1", only.signatures[0] ?? "")).toBe(false);
  });

  test("a referee that does not answer three probes loses its matches to another, under a higher epoch", async () => {
    const given = counter(1);
    const givenAgain = counter(1);
    const first = await startReferee("REF01", 10, given.count);
    const second = await startReferee("REF02", 10, givenAgain.count);
    const dispatcher = startDispatcher([first, second]);
    const [match] = matchesOfRound(1);
    dispatcher.enqueue([match as Match]);
    await given.reached;
    first.server.closeAllConnections();
    first.server.close();
    await givenAgain.reached;
    expect(second.orders).toMatchObject([{ match_id: "R1M1", epoch: 2 }]);
    expect(match).toMatchObject({ refereeId: "REF02", epoch: 2, status: "assigned" });
  });

  test("a match that its referee does not end in time is told as overdue, once; one that is done is not", async () => {
    const only = await startReferee("REF01", 10);
    const told = Promise.withResolvers<Match>();
    const overdue: Match[] = [];
    const onOverdue = (match: Match): void => {
      overdue.push(match);
      told.resolve(match);
    };
    const dispatcher = startDispatcher([only], { matchMs: 50, onOverdue });
    const [done, late] = matchesOfRound(2) as [Match, Match];
    dispatcher.enqueue([done, late]);
    done.status = "completed";
    dispatcher.release(done);
    expect(await told.promise).toBe(late);
    expect(overdue).toEqual([late]);
  });
});

test("a match that has failed with one referee goes to another, if there is one", async () => {
  const both = [await startReferee("REF01", 2), await startReferee("REF02", 2)];
  const dispatcher = startDispatcher(both);
  const [match] = matchesOfRound(1) as [Match];
  const given: (string | null)[] = [];
  for (let time = 0; time < 3; time++) {
    dispatcher.enqueue([match]);
    given.push(match.refereeId);
    dispatcher.release(match, "failed");
    Object.assign(match, { status: "scheduled", refereeId: null, epoch: match.epoch + 1 });
  }
  expect(given).toEqual(["REF01", "REF02", "REF01"]);
});
