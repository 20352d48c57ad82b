import { expect, it } from "vitest";
import { PlayedLeague, playerIds } from "../testing/played-league.ts";
import { recentMatchesOf } from "./projections.ts";

const ended = (type: "match_completed" | "match_aborted", match_id: string) =>
  ({ type, match_id }) as Parameters<ReturnType<typeof recentMatchesOf>["advance"]>[0];

it("keeps the last twenty matches of a league and the last five of each player", () => {
  const recent = recentMatchesOf(null);
  for (let number = 1; number <= 30; number++) recent.advance(ended("match_completed", `R${number}M1`), () => ["P01"]);
  expect(recent.all()).toHaveLength(20);
  expect(recent.all()[0]).toBe("R30M1");
  expect(recent.of("P01")).toEqual(["R26M1", "R27M1", "R28M1", "R29M1", "R30M1"]);
  expect(recent.of("P02")).toEqual([]);
});

it("lists a match once that is completed again", () => {
  const recent = recentMatchesOf(null);
  for (const id of ["R1M1", "R1M2", "R1M1"]) recent.advance(ended("match_aborted", id), () => ["P01"]);
  expect(recent.all()).toEqual(["R1M1", "R1M2"]);
  expect(recent.of("P01")).toEqual(["R1M2", "R1M1"]);
});

it("begins with the matches of a league that was loaded", () => {
  const played = new PlayedLeague(playerIds(4));
  played.playRound();
  const recent = recentMatchesOf(played.league);
  expect(recent.all()).toEqual(["R1M2", "R1M1"]);
  expect(recent.of("P01")).toHaveLength(1);
});
