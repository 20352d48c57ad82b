import { expect, it } from "vitest";
import { act } from "#shared/session/testing/play.ts";
import type { League, Match } from "../../league/league.ts";
import { outcomeOfResult } from "../../league/outcome.ts";
import { matchAfter } from "../testing/matches.ts";
import { StoredMatches } from "./stored-match.ts";

const CHOICES = [act("player_1", "rock"), act("player_2", "scissors")];
const played = matchAfter("rps.v1", CHOICES);
const { log, log_head, options } = played;
const players = ["P01", "P02"];
const league = {
  leagueId: "class",
  runId: "run",
  game: "rps.v1",
  roles: ["player_1", "player_2"],
  options,
  clock: null,
};

const matchNumber = (number: number): Match =>
  ({
    matchId: `R1M${number}`,
    roundId: 1,
    epoch: 1,
    players,
    status: "completed",
    logHead: log_head,
    outcome: outcomeOfResult(players, played),
  }) as unknown as Match;

it("a check of many matches replays each of them once, and their steps are read again on demand", async () => {
  const read: string[] = [];
  const logOf = async (_league: string, match: string) => {
    read.push(match);
    return log;
  };
  const stored = new StoredMatches({ logOf, seedOf: () => "seed" });
  const matches = Array.from({ length: 50 }, (_, index) => matchNumber(index + 1));
  const check = () => Promise.all(matches.map((match) => stored.find(league as unknown as League, match)));
  const first = await check();
  expect(new Set(first.map((checked) => checked?.fault))).toEqual(new Set([null]));
  expect(first[0]).toMatchObject({ session: "s", entries: 3, length: 2, last: { status: "completed" } });
  expect(await check()).toEqual(first);
  expect(read).toHaveLength(50);
  const replayed = await stored.replay(league as unknown as League, matchNumber(1));
  expect([replayed?.frames.length, replayed?.hashes.at(-1)]).toEqual([2, log_head]);
  expect(read).toHaveLength(51);
});
