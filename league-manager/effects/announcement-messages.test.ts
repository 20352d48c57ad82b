import { describe, expect, test } from "vitest";
import { type League, type LeagueCommand, roundOf } from "../league/league.ts";
import { afterCommands, resultOf, running, SEED, WON } from "../league/testing/leagues.ts";
import type { ManagerState } from "../ledger.ts";
import { AnnouncementMessages, type AnnouncementType } from "./announcement-queues.ts";

const NO_AGENTS = { agents: new Map(), lastForgotten: { player: 0, referee: 0 }, formerLeagues: [] };
const stateOf = (league: League): ManagerState => ({ ...NO_AGENTS, leagues: new Map([[league.leagueId, league]]) });
const players = (count: number): string[] => Array.from({ length: count }, (_, index) => `P${index + 1}`);

describe("the messages of a round with more than 100 matches", () => {
  const started = afterCommands(running(players(204))).league;
  const [first] = started.rounds;
  const matches = first?.matches.map((match, turn) => (turn < 2 ? { ...match, refereeId: "REF01" } : match)) ?? [];
  const league = first ? { ...started, rounds: started.rounds.with(0, { ...first, matches }) } : started;
  const ownMatch = matches.find((match) => match.players.includes("P7"));
  const messages = new AnnouncementMessages(() => stateOf(league));
  const payload = (type: AnnouncementType, recipientId: string) =>
    messages.payload({ type, leagueId: "rps", roundId: 1 }, recipientId);
  const truncation = { truncated: true, total: 102, resource: "league://rps/schedule/1" };

  test("list the match of the player in ROUND_ANNOUNCEMENT, and the number of all matches", () => {
    expect(payload("ROUND_ANNOUNCEMENT", "P7")).toMatchObject({
      matches: [{ match_id: ownMatch?.matchId }],
      ...truncation,
    });
  });

  test("list the matches of the referee in ROUND_ANNOUNCEMENT", () => {
    const [first, second] = matches;
    expect(payload("ROUND_ANNOUNCEMENT", "REF01")).toMatchObject({
      matches: [{ match_id: first?.matchId }, { match_id: second?.matchId }],
      ...truncation,
    });
    expect(payload("ROUND_ANNOUNCEMENT", "REF02")).toMatchObject({ matches: [], ...truncation });
  });

  test("list the winner of the player's match in ROUND_END, and the number of completed matches", () => {
    const summary = { winners: { [ownMatch?.matchId ?? ""]: null } };
    expect(payload("ROUND_END", "P7")).toEqual({
      league_id: "rps",
      round_id: 1,
      matches_completed: 102,
      next_round_id: 2,
      summary,
      ...truncation,
    });
  });
});

test.each([
  { matches: 100, listed: 100, truncated: undefined },
  { matches: 101, listed: 1, truncated: true },
])(
  "the announcement of a round with $matches matches lists $listed of them to a player",
  ({ matches, listed, truncated }) => {
    const { league } = afterCommands(running(players(2 * matches)));
    const messages = new AnnouncementMessages(() => stateOf(league));
    const payload = messages.payload({ type: "ROUND_ANNOUNCEMENT", leagueId: "rps", roundId: 1 }, "P1");
    const { matches: list, ...rest } = payload as { matches: unknown[]; truncated?: boolean };
    expect([list.length, rest.truncated]).toEqual([listed, truncated]);
  },
);

test("standings after a round read only the matches of that round if the standings after the previous round were sent", () => {
  let commands: readonly LeagueCommand[] = running(["P1", "P2", "P3", "P4"]);
  const leagues: League[] = [];
  for (const roundId of [1, 2]) {
    commands = [...commands, { type: "open_round", roundId, shutDown: new Map() }];
    for (const match of roundOf(afterCommands(commands).league, roundId)?.matches ?? []) {
      commands = [...commands, { type: "assign", matchId: match.matchId, epoch: 1, refereeId: "REF01" }];
      const { league } = afterCommands(commands);
      const result = resultOf(league, match, WON);
      commands = [...commands, { type: "report", result, refereeId: "REF01", seed: SEED }];
    }
    leagues.push(afterCommands(commands).league);
  }
  const [afterFirst, afterSecond] = leagues as [League, League];
  let league = afterFirst;
  const messages = new AnnouncementMessages(() => stateOf(league));
  const playedAfter = (roundId: number): unknown => {
    const payload = messages.payload({ type: "LEAGUE_STANDINGS_UPDATE", leagueId: "rps", roundId }, "P1");
    return (payload as { standings: { played: number }[] }).standings.map(({ played }) => played);
  };
  expect(playedAfter(1)).toEqual([1, 1, 1, 1]);
  const [first] = afterSecond.rounds;
  const unread = new Proxy([], {
    get() {
      throw new Error("the matches of round 1 are read again");
    },
  });
  league = first ? { ...afterSecond, rounds: afterSecond.rounds.with(0, { ...first, matches: unread }) } : afterSecond;
  expect(playedAfter(2)).toEqual([2, 2, 2, 2]);
  league = afterSecond;
  expect(playedAfter(1)).toEqual([1, 1, 1, 1]);
});
