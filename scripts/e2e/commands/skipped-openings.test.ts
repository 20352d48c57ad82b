import { afterEach, expect, it } from "vitest";
import { cleanUp } from "../../testing/processes.ts";
import { run, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

it("`league run` reports the skipped openings of a book once, at its end", async () => {
  const book = ["nonsense", "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq -"].join("\n");
  const league = { league_id: "chess", game: "chess.v1", options: { max_plies: 2 }, openings: "book.epd" };
  const test = await testLeague(["random", "random"], [league], { files: { "book.epd": book } });
  const { code, stderr } = await run(test).ended;
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(
    /\nplayed in .*\nbook\.epd: one opening is skipped; the first: line 1: not a position in EPD, which has four fields\n$/,
  );
  expect(stderr.match(/skipped/g)).toHaveLength(1);
});
