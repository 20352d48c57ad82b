import { describe, expect, test } from "vitest";
import { annulMatch, endLeague, pauseLeague, resumeLeague } from "../commands/league-commands.ts";
import { played } from "../testing/results.ts";
import { startTestLeague } from "./testing/league.ts";

const START_MS = Date.UTC(2026, 0, 1);

describe("the time of a round", () => {
  const timed = { players: 4, referees: 2, settings: { roundMs: 60_000 } } as const;

  test("ends the round: its open match is cancelled, withdrawn from its referee, and the next round begins", async () => {
    const league = await startTestLeague(timed);
    const [first] = [await league.order("REF01", "R1M1"), await league.order("REF02", "R1M2")];
    await league.report("REF01", played(first));
    const openedMs = Date.parse(league.league().rounds.at(0)?.openedAt ?? "");
    await league.clock.advance(openedMs + 59_000 - league.clock.now());
    expect(league.league().currentRound).toBe(1);
    await league.clock.advance(2_000);
    await league.eventually(() => expect(league.league().currentRound).toBe(2));
    expect(league.league().rounds.at(0)?.matches[1]).toMatchObject({
      outcome: { reason: "time_of_the_round_is_over", points: [] },
    });
    await league.eventually(() => expect(league.agent("REF02").of("MATCH_WITHDRAWN")).toHaveLength(1));
  });

  test("goes on while the manager is down", async () => {
    const league = await startTestLeague(timed);
    await league.order("REF01", "R1M1");
    await league.restart(() => league.clock.advance(61_000));
    await league.eventually(() => expect(league.league().rounds.at(0)?.isExpired).toBe(true));
  });

  test("begins again when the league is resumed", async () => {
    const league = await startTestLeague(timed);
    await league.order("REF01", "R1M1");
    await league.ledger().execute(pauseLeague("rps"));
    await league.clock.advance(120_000);
    expect(league.league().currentRound).toBe(1);
    await league.ledger().execute(resumeLeague("rps"));
    await league.clock.advance(58_000);
    expect(league.league().currentRound).toBe(1);
    await league.clock.advance(4_000);
    await league.eventually(() => expect(league.league().rounds.at(0)?.isExpired).toBe(true));
  });
});

test("a paused league assigns no match, also after a restart, until it is resumed", async () => {
  const league = await startTestLeague({ players: 4, referees: 1, maxConcurrent: 1 });
  const first = await league.order("REF01", "R1M1");
  await league.ledger().execute(pauseLeague("rps"));
  await league.report("REF01", played(first));
  await league.restart();
  await league.clock.advance(10_000);
  expect(league.round()).toMatchObject([{ status: "completed" }, { status: "scheduled" }]);
  await league.ledger().execute(resumeLeague("rps"));
  expect(await league.order("REF01", "R1M2")).toMatchObject({ match_id: "R1M2" });
});

test("a match that is annulled while it is played is withdrawn from its referee, and the league continues", async () => {
  const league = await startTestLeague({ players: 2, referees: 1 });
  await league.order("REF01", "R1M1");
  await league.ledger().execute(annulMatch("rps", "R1M1", "a rehearsal"));
  await league.eventually(() => expect(league.agent("REF01").of("MATCH_WITHDRAWN")).toHaveLength(1));
  await league.eventually(() => expect(league.league().status).toBe("completed"));
});

test("a paused league that the operator ends is completed, and its open match is withdrawn from its referee", async () => {
  const league = await startTestLeague({ players: 3, referees: 1 });
  await league.report("REF01", played(await league.order("REF01", "R1M1")));
  await league.order("REF01", "R2M1");
  await league.eventually(() => expect(league.league().rounds.at(1)?.isAnnounced).toBe(true));
  await league.ledger().execute(pauseLeague("rps"));
  await league.ledger().execute(endLeague("rps"));
  await league.eventually(() => expect(league.league().status).toBe("completed"));
  await league.eventually(() => expect(league.agent("REF01").of("MATCH_WITHDRAWN")).toHaveLength(1));
  expect(league.round(3)).toMatchObject([{ status: "completed", refereeId: null, outcome: { reason: "cancelled" } }]);
  // The third round was not opened, so the second is the last one for the players.
  const ends = league.agent("P01").of("ROUND_END");
  expect(ends.at(-1)?.payload).toMatchObject({ round_id: 2, next_round_id: null });
  const last = league.agent("P01").of("LEAGUE_STANDINGS_UPDATE").at(-1);
  expect(last?.payload).toMatchObject({ round_id: 2, standings: [{ played: 1 }, { played: 0 }, { played: 1 }] });
});

describe("a league with a start time", () => {
  const startsAt = new Date(START_MS + 100_000).toISOString();

  test("starts then, not when its players are registered", async () => {
    const league = await startTestLeague({ players: 2, referees: 1, settings: { startsAt } });
    await league.clock.advance(START_MS + 98_000 - league.clock.now());
    expect(league.league().status).toBe("open");
    await league.clock.advance(4_000);
    await league.eventually(() => expect(league.league().status).toBe("running"));
  });

  test("starts then with the players that are registered, if no number of players is set", async () => {
    const league = await startTestLeague({ players: 3, referees: 1, minPlayers: 0, settings: { startsAt } });
    await league.clock.advance(START_MS + 102_000 - league.clock.now());
    await league.eventually(() => expect(league.league()).toMatchObject({ status: "running", matchCount: 3 }));
  });
});
