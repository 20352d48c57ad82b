import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { hashOfBuiltIn } from "../../../player/loaded-bot.ts";
import type { GameRatings } from "../../archive/ratings.ts";
import { start } from "../../testing/processes.ts";
import { RPS, testLeague } from "../../testing/test-league.ts";

const botThatPlays = (move: string): string => `export default () => ${JSON.stringify(move)};\n`;

it("each version of a bot file and each built-in bot under one name has a rating", async () => {
  const first = botThatPlays("rock");
  const test = await testLeague(["bot.mjs", "random"], RPS, { files: { "bot.mjs": first } });
  const play = async (seed: string): Promise<void> => {
    const ended = await start("scripts/league.ts", ["run", test.file, "--seed", seed, "--quiet"]).ended;
    expect(ended).toMatchObject({ code: 0 });
  };
  await play("one");
  const second = botThatPlays("paper");
  writeFileSync(join(test.folder, "bot.mjs"), second);
  await play("two");
  writeFileSync(test.file, readFileSync(test.file, "utf8").replace('"random"', '"counter"'));
  await play("three");
  const { stdout } = await start("scripts/league.ts", ["ratings", join(test.folder, "data"), "--json"]).ended;
  const [game] = (JSON.parse(stdout) as { games: readonly GameRatings[] }).games;
  expect(game).toMatchObject({ game: "rps.v1", runs: 3, runs_with_equal_seed: 0, matches: 3 });
  const versions = game?.players.map(({ name, bot_hash, matches }) => [name, bot_hash, matches]) ?? [];
  expect(versions.sort()).toEqual(
    [
      ["Player1", sha256Hex(first), 1],
      ["Player1", sha256Hex(second), 2],
      ["Player2", hashOfBuiltIn("random"), 2],
      ["Player2", hashOfBuiltIn("counter"), 1],
    ].sort(),
  );
});
