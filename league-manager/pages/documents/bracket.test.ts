import { describe, expect, it } from "vitest";
import type { BracketDocument, BracketTieView } from "#shared/web/league-documents.ts";
import { formatOf, parsedOptions, viewOf } from "../../league/format-view.ts";
import { DRAWN, LOST, PlayedLeague, playerIds, WON } from "../../testing/played-league.ts";
import { bracket } from "./bracket-document.ts";
import { headerOf } from "./document.ts";

const ties = (document: BracketDocument, tree = 0, round = 0): readonly BracketTieView[] =>
  document.trees[tree]?.rounds[round]?.ties ?? [];

describe("the bracket of a league", () => {
  it("has byes, the results of each match, winners, and where open slots come from", async () => {
    const played = new PlayedLeague(playerIds(6), { format: "single-elimination" });
    for (const { matchId, players } of played.league.rounds.at(0)?.matches.slice(0, 2) ?? [])
      played.complete(matchId, players[0] === "P04" ? WON : LOST);
    const document = await played.read<BracketDocument>(bracket);
    expect(document.trees.map(({ name, rounds }) => [name, rounds.map(({ label }) => label)])).toEqual([
      ["", ["Quarter-final", "Semi-final", "Final"]],
    ]);
    const [bye, decided] = ties(document);
    expect(bye).toMatchObject({ state: "decided", note: "bye", match_ids: [] });
    expect(bye?.slots[0]).toMatchObject({ seed: 1, is_winner: true, players: [{ name: "name of P01" }] });
    expect(decided?.slots).toMatchObject([
      { seed: 4, marks: ["1", "1"], points: 6, is_winner: true },
      { seed: 5, marks: ["0", "0"], points: 0, is_winner: false },
    ]);
    const [semiFinal, other] = ties(document, 0, 1);
    expect(semiFinal?.slots.map(({ players }) => players[0]?.player_id)).toEqual(["P01", "P04"]);
    expect(other?.slots[1]).toMatchObject({ players: [], from: "Winner of quarter-final 4" });
    expect(document.winner).toEqual([]);
  });

  it("of a completed league names the winner, and a match for the third place has a tree", async () => {
    const settings = { format: "single-elimination", formatOptions: { third_place: true, legs: 1 } };
    const played = new PlayedLeague(playerIds(4), settings);
    for (let round = 0; round < 3; round++) played.playRound();
    const document = await played.read<BracketDocument>(bracket);
    expect(document.winner).toEqual([{ player_id: "P01", name: "name of P01" }]);
    expect(document.trees.map(({ name }) => name)).toEqual(["", "Third place"]);
    expect(ties(document, 1)[0]?.slots.map(({ players }) => players[0]?.player_id)).toEqual(["P04", "P03"]);
  });

  it("says that the better seed has decided a tie whose matches are all drawn", async () => {
    const settings = { format: "single-elimination", formatOptions: { legs: 1, extra_legs: 0 } };
    const played = new PlayedLeague(playerIds(2), settings);
    played.complete("R1M1", DRAWN);
    const [tie] = ties(await played.read<BracketDocument>(bracket));
    expect(tie).toMatchObject({ note: "decided by the better seed", slots: [{ is_winner: true }, { points: 1 }] });
  });

  it("of a double elimination has trees of winners, losers and the final", async () => {
    const played = new PlayedLeague(playerIds(4), { format: "double-elimination" });
    played.playRound();
    const document = await played.read<BracketDocument>(bracket);
    expect(document.trees.map(({ name, rounds }) => [name, rounds.length])).toEqual([
      ["Winners", 2],
      ["Losers", 2],
      ["Final", 2],
    ]);
    expect(ties(document, 2, 1)[0]?.slots[1]?.from).toBe("Loser of grand final");
  });

  it.each(["single-elimination", "double-elimination"])(
    "of a %s with many players has parts, in which each tie leads to the next one",
    async (format) => {
      const played = new PlayedLeague(playerIds(200), { format });
      const finals = await played.read<BracketDocument>(bracket);
      expect([finals.part, finals.parts]).toEqual([0, 4]);
      const all = [finals];
      for (let part = 1; part <= 4; part++) all.push(await played.read<BracketDocument>(bracket, `part=${part}`));
      const rounds = all.flatMap(({ trees }) => trees.flatMap((tree) => tree.rounds));
      expect(Math.max(...rounds.map((round) => round.ties.length))).toBe(32);
      const ties = formatOf(played.league)
        .bracket?.(viewOf(played.league, ""), parsedOptions(played.league))
        .rounds.flatMap((round) => round.ties);
      expect(new Set(rounds.flatMap((round) => round.ties.map(({ id }) => id)))).toEqual(
        new Set(ties?.map(({ id }) => id)),
      );
      for (const tree of all.slice(1).flatMap(({ trees }) => trees)) {
        const shown = new Set(tree.rounds.flatMap((round) => round.ties.map(({ id }) => id)));
        const slots = ties?.flatMap((tie) => (shown.has(tie.id) ? tie.slots : [])) ?? [];
        const sources = slots.flatMap(({ from }) => ("winnerOf" in from ? [from.winnerOf] : []));
        expect(sources.length).toBeGreaterThan(0);
        expect(sources.filter((id) => !shown.has(id))).toEqual([]);
      }
      expect(await played.read<BracketDocument>(bracket, "part=99")).toMatchObject({ part: 4 });
    },
  );

  it("is a section of eliminations only", async () => {
    const knockout = new PlayedLeague(playerIds(2), { format: "single-elimination" });
    expect(headerOf(knockout.context(), knockout.league).sections).toContain("bracket");
    const roundRobin = new PlayedLeague(playerIds(2));
    expect(headerOf(roundRobin.context(), roundRobin.league).sections).not.toContain("bracket");
    expect(await roundRobin.read(bracket)).toBeNull();
  });
});
