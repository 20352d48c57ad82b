import { describe, expect, test } from "vitest";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { removePlayer } from "../commands/agent-commands.ts";
import { completeLeague } from "../commands/league-commands.ts";
import { played } from "../testing/results.ts";
import { startTestLeague, type TestLeague } from "./testing/league.ts";
import { leagueWithSilentPlayer } from "./testing/silent-player.ts";

const typesAt = (league: TestLeague, id: string) =>
  league.agent(id).received.map(({ type, payload }) => [type, payload.round_id]);

describe("the announcements of a league", () => {
  test("reach each player and referee in order, signed, and name the referees of the matches", async () => {
    const league = await startTestLeague({ players: 3 });
    for (const roundId of [1, 2, 3]) await league.playRound(roundId);
    await league.eventually(() => expect(league.league().status).toBe("completed"));
    const round = (roundId: number) => [
      ["ROUND_ANNOUNCEMENT", roundId],
      ["ROUND_START", roundId],
    ];
    const end = (roundId: number) => [
      ["ROUND_END", roundId],
      ["LEAGUE_STANDINGS_UPDATE", roundId],
    ];
    const course = [...round(1), ...end(1), ...round(2), ...end(2), ...round(3), ...end(3)];
    expect(typesAt(league, "P01")).toEqual(course);
    expect(typesAt(league, "REF01").filter(([type]) => type !== "START_GAME")).toEqual(course);
    const { token, received } = league.agent("P01");
    for (const { auth_token } of received) expect(isSignedFor(token, "rps", auth_token ?? "")).toBe(true);
    const [first] = league.agent("P01").of("ROUND_ANNOUNCEMENT");
    expect(first?.payload).toEqual({
      league_id: "rps",
      round_id: 1,
      matches: [
        {
          match_id: "R1M1",
          game: "rps.v1",
          referee_endpoint: league.agent("REF01").url,
          roles: { player_1: "P02", player_2: "P03" },
        },
      ],
      byes: ["P01"],
    });
    const ends = league
      .agent("P01")
      .of("ROUND_END")
      .map(({ payload }) => payload);
    expect(ends).toMatchObject([
      { next_round_id: 2, matches_completed: 1 },
      { next_round_id: 3 },
      { next_round_id: null },
    ]);
    expect(ends[0]).toMatchObject({ summary: { winners: { R1M1: "P02" } } });
    const standings = league.agent("P01").of("LEAGUE_STANDINGS_UPDATE").at(0)?.payload.standings;
    expect(standings).toMatchObject([
      { rank: 1, player_id: "P02", display_name: "P02", points: 3, state: "ACTIVE" },
      { rank: 2, player_id: "P01", byes: 1, points: 0 },
      { rank: 2, player_id: "P03", byes: 0, points: 0 },
    ]);
  });

  test("contain standings without the forfeits of the next round, which are committed when it is opened", async () => {
    const league = await startTestLeague({ players: 4 });
    await league.eventually(() =>
      expect(league.round()).toMatchObject([{ status: "assigned" }, { status: "assigned" }]),
    );
    await league.ledger().execute(removePlayer("P01"));
    await league.playRound(1);
    const rows = await league.eventually(() => {
      const [update] = league.agent("P02").of("LEAGUE_STANDINGS_UPDATE");
      if (!update) throw new Error("no standings");
      return update.payload.standings as { played: number }[];
    });
    expect(rows.map((row) => row.played)).toEqual([1, 1, 1, 1]);
    expect(league.round(2).filter(({ outcome }) => outcome?.reason === "removed_by_operator")).toHaveLength(1);
  });

  test("are not sent to a player that registered with announcements: false, and its matches do not wait for them", async () => {
    const league = await startTestLeague({ players: 0, minPlayers: 2 });
    await league.registerPlayer("P01", undefined, { announcements: false });
    await league.registerPlayer("P02");
    await league.playRound(1);
    await league.eventually(() => expect(league.league().status).toBe("completed"));
    expect(league.agent("P01").received).toEqual([]);
    expect(league.agent("P02").received).toHaveLength(4);
  });
});

describe("START_GAME of a match", () => {
  test("is sent after both players have received ROUND_ANNOUNCEMENT and ROUND_START", async () => {
    const messageLog: string[] = [];
    const league = await startTestLeague({ players: 0, minPlayers: 2 });
    const recordMessages = (id: string) => {
      league.agent(id).answer = ({ type }) => {
        messageLog.push(`${id} ${type}`);
        return "accepted";
      };
    };
    recordMessages("REF01");
    await league.registerPlayer("P01");
    recordMessages("P01");
    await league.registerPlayer("P02");
    recordMessages("P02");
    await league.order("REF01", "R1M1");
    const order = messageLog.indexOf("REF01 START_GAME");
    for (const id of ["P01", "P02"]) expect(messageLog.indexOf(`${id} ROUND_START`)).toBeLessThan(order);
  });

  test("waits at most 250 ms for a player that does not answer", async () => {
    const { league, answer } = await leagueWithSilentPlayer();
    await league.order("REF01", "R1M1");
    expect(typesAt(league, "P01")).toEqual([["ROUND_ANNOUNCEMENT", 1]]);
    await league.eventually(() => expect(league.league().rounds.at(0)?.isAnnounced).toBe(true));
    answer();
    await league.eventually(() => expect(typesAt(league, "P01")).toHaveLength(2));
  });
});

describe("a slow player", () => {
  test("receives the messages in order, with the newest standings instead of older ones in its queue", async () => {
    const league = await startTestLeague({ players: 3, timeouts: { default_ms: 60_000 } });
    await league.eventually(() => expect(league.agent("P01").received).toHaveLength(2));
    const answer = Promise.withResolvers<"accepted">();
    league.agent("P01").answer = () => answer.promise;
    for (const roundId of [1, 2, 3]) await league.playRound(roundId);
    await league.eventually(() => expect(league.league().status).toBe("completed"));
    answer.resolve("accepted");
    await league.eventually(() => expect(typesAt(league, "P01").at(-1)).toEqual(["LEAGUE_STANDINGS_UPDATE", 3]));
    expect(typesAt(league, "P01").slice(2)).toEqual([
      ["ROUND_END", 1],
      ["ROUND_ANNOUNCEMENT", 2],
      ["ROUND_START", 2],
      ["ROUND_END", 2],
      ["ROUND_ANNOUNCEMENT", 3],
      ["ROUND_START", 3],
      ["ROUND_END", 3],
      ["LEAGUE_STANDINGS_UPDATE", 3],
    ]);
  });

  test("delays the end of its league by at most a second", async () => {
    const league = await startTestLeague();
    const order = await league.order("REF01", "R1M1");
    const answer = Promise.withResolvers<"accepted">();
    league.agent("P01").answer = () => answer.promise;
    await league.report("REF01", played(order));
    await league.eventually(() => expect(typesAt(league, "P01").at(-1)).toEqual(["ROUND_END", 1]));
    const startedAtMs = league.clock.monotonic();
    await league.eventually(() => expect(league.league().status).toBe("completed"));
    expect(league.clock.monotonic() - startedAtMs).toBeGreaterThan(500);
    answer.resolve("accepted");
    expect(await league.ledger().execute(completeLeague("rps"))).toMatchObject({ ok: true });
  });
});

test("a league of more than 100 players sends each agent the entries that concern it and the URI of the complete list", async () => {
  const league = await startTestLeague({ players: 0, minPlayers: 102 });
  const referee = league.agent("REF01");
  for (let n = 1; n <= 102; n++) {
    await league.registerPlayer(`P${String(n).padStart(2, "0")}`);
  }
  await league.playRound(1);
  const standings = await league.eventually(() => {
    const [update] = league.agent("P07").of("LEAGUE_STANDINGS_UPDATE");
    if (!update) throw new Error("no standings");
    return update.payload;
  });
  expect(standings).toMatchObject({
    standings: [{ player_id: "P07" }],
    truncated: true,
    total: 102,
    resource: "league://rps/standings",
  });
  const [announcement] = league.agent("P07").of("ROUND_ANNOUNCEMENT");
  expect(announcement?.payload).not.toHaveProperty("truncated");
  expect(announcement?.payload.matches).toHaveLength(51);
  expect(referee.of("LEAGUE_STANDINGS_UPDATE").at(0)?.payload).toMatchObject({ standings: [], truncated: true });
});
