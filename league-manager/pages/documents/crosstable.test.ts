import { describe, expect, it } from "vitest";
import type { CrosstableDocument } from "#shared/web/league-documents.ts";
import { cellInWords, cellTexts, parsedCell } from "#shared/web/texts/crosstable-cells.ts";
import { matchOf } from "../../league/evolve.ts";
import { DRAWN, PlayedLeague, playerIds, WON } from "../../testing/played-league.ts";
import { crosstable } from "./crosstable-document.ts";

/** The cells of a document by the ids of the players, without empty ones. */
function cellsOf(document: CrosstableDocument): Readonly<Record<string, string>> {
  const columns = document.columns ?? document.rows;
  return Object.fromEntries(
    cellTexts(document).flatMap((cells, row) =>
      cells.flatMap((text, column) =>
        text ? [[`${document.rows[row]?.player_id} ${columns[column]?.player_id}`, text]] : [],
      ),
    ),
  );
}

describe("the crosstable of a league", () => {
  it("has each result from the views of both players, with its match", async () => {
    const played = new PlayedLeague(playerIds(4));
    const [first, second] = played.league.rounds.at(0)?.matches ?? [];
    const [one = "", two = ""] = first?.players ?? [];
    const [three = "", four = ""] = second?.players ?? [];
    played.complete("R1M1", DRAWN);
    played.complete("R1M2", WON, four);
    const document = await played.read<CrosstableDocument>(crosstable);
    expect(cellsOf(document)).toEqual({
      [`${one} ${two}`]: "==R1M1",
      [`${two} ${one}`]: "==R1M1",
      [`${three} ${four}`]: "+-R1M2",
      [`${four} ${three}`]: "-+R1M2",
    });
    expect(document.rows.map(({ player_id }) => player_id)[0]).toBe(three);
    expect(document.rows[0]).toMatchObject({ name: `name of ${three}`, points: 3 });
    expect(cellInWords("-+R1M2")).toBe("lost by forfeit");
  });

  it("follows results that are added later, in the same round and in others", async () => {
    const played = new PlayedLeague(playerIds(4));
    played.complete("R1M1", WON);
    const before = cellsOf(await played.read(crosstable));
    played.complete("R1M2", WON);
    played.openRounds();
    played.complete("R2M1", DRAWN);
    const after = cellsOf(await played.read(crosstable));
    expect(Object.keys(before)).toHaveLength(2);
    expect(Object.keys(after)).toHaveLength(6);
    expect(after).toMatchObject(before);
  });

  it("lists the matches of a pair in the order of the rounds, and counts them if they are many", async () => {
    const played = new PlayedLeague(playerIds(2), { formatOptions: { cycles: 8 } });
    const cell = async (): Promise<string> =>
      cellTexts(await played.read<CrosstableDocument>(crosstable))[0]?.[1] ?? "";
    for (let round = 0; round < 3; round++) played.playRound();
    expect(parsedCell(await cell())).toEqual({
      matches: ["R1M1", "R2M1", "R3M1"].map((matchId) => ({ mark: "1", matchId })),
    });
    for (let round = 0; round < 5; round++) played.playRound();
    expect(await cell()).toBe("*8/0/0");
    expect(cellInWords(await cell())).toBe("8 won, 0 drawn, 0 lost");
  });

  it("of 100 players has less than 60 kB, with the results of all matches", async () => {
    const played = new PlayedLeague(playerIds(100));
    while (played.league.currentRound !== null) played.playRound();
    const document = await played.read<CrosstableDocument>(crosstable);
    expect(JSON.stringify(document).length).toBeLessThan(60_000);
    const cells = cellsOf(document);
    expect(Object.keys(cells)).toHaveLength(100 * 99);
    const [cell] = [parsedCell(cells["P01 P100"] ?? "")];
    const matchId = "matches" in cell ? (cell.matches[0]?.matchId ?? "") : "";
    expect(matchOf(played.league, matchId)?.players.toSorted()).toEqual(["P01", "P100"]);
  });

  it("of more than 100 players has pages of rows and columns", async () => {
    const played = new PlayedLeague(playerIds(120), { format: "swiss" });
    played.playRound();
    const corner = await played.read<CrosstableDocument>(crosstable, "rows=1&columns=2");
    expect(corner).toMatchObject({ pages: 3, row_page: 1, column_page: 2, first_row: 1, first_column: 51 });
    expect(corner.columns).toHaveLength(50);
    const last = await played.read<CrosstableDocument>(crosstable, "rows=99&columns=3");
    expect(last.rows).toHaveLength(20);
    expect(last.columns).toBeNull();
    const all = await Promise.all(
      [1, 2, 3].flatMap((rows) =>
        [1, 2, 3].map((columns) => played.read<CrosstableDocument>(crosstable, `rows=${rows}&columns=${columns}`)),
      ),
    );
    expect(all.flatMap((document) => Object.keys(cellsOf(document)))).toHaveLength(120);
  });
});
