import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { cleanUp, newFolder, processesIn } from "../../testing/processes.ts";
import { documentOf, run, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** A bot that enters leagues of chess only, which the command does not know before the bot is loaded. It answers with no legal move. */
const CHESS_BOT = `export const games = ["chess.v1"];
export default () => "0000";
`;

it("a run reports a league that has only one player, and the results of its other leagues", async () => {
  const bot = join(newFolder(), "bot.mjs");
  writeFileSync(bot, CHESS_BOT);
  const players = [
    { name: "Alpha", bot: "random" },
    { name: "Fish", bot },
  ];
  const leagues = [
    { league_id: "chess", game: "chess.v1" },
    { league_id: "rps", game: "rps.v1" },
  ];
  const test = await testLeague([], leagues, { config: { players } });
  const ended = await run(test, "--json").ended;
  expect(ended.code, ended.stderr).toBe(1);
  expect(ended.stderr).toContain("rps cannot start: a league needs two players, and it has 1");
  const [chess, rps] = documentOf(ended).leagues;
  expect(chess).toMatchObject({ league_id: "chess", status: "completed", matches: [{ winner: "P01" }] });
  expect(chess?.standings.map(({ display_name, points }) => [display_name, points])).toEqual([
    ["Alpha", 3],
    ["Fish", 0],
  ]);
  expect(rps).toMatchObject({ league_id: "rps", status: "open", matches: [] });

  const plain = await run(test, "--quiet").ended;
  expect(plain.code, plain.stderr).toBe(1);
  expect(plain.stdout).toMatch(/^chess \(chess\.v1\)\n.*\n +1 +Alpha +P01 .*\n +2 +Fish +P02 .*\n +ratings, .*\n$/);
  expect(processesIn(test.folder)).toEqual([]);
});
