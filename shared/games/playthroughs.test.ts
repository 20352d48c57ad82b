/**
 * Recorded games replay to the same states, compared by their hashes, so a change of a rule, a state or a view fails
 * here. A registered game without a file fails as well. After an intended change, run
 *
 * UPDATE_PLAYTHROUGHS=1 npx vitest run shared/games/playthroughs.test.ts
 *
 * and read the diff. The command keeps the recorded actions and writes new hashes, views and outcomes. It records one
 * random game for each variant of a game without a file. To add a recorded game, write its options, seed and steps
 * (without hashes) to the file and run the command.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { format, type Playthrough, recordAtRandom, replay } from "./contract/playthroughs.ts";
import { type GameId, gameIds, games } from "./registry.ts";
import { variantsOf } from "./testing/variants.ts";

const fileOf = (id: GameId): URL => new URL(`./playthroughs/${id}.json`, import.meta.url);

const read = (id: GameId): readonly Playthrough[] => JSON.parse(readFileSync(fileOf(id), "utf8"));

if (process.env.UPDATE_PLAYTHROUGHS === "1") {
  for (const id of gameIds) {
    const recorded = existsSync(fileOf(id))
      ? read(id).map((playthrough) => replay(games[id], playthrough))
      : variantsOf(id).map((options) => recordAtRandom(games[id], options));
    writeFileSync(fileOf(id), format(recorded));
  }
}

describe.each(gameIds)("%s: playthroughs", (id) => {
  it("has recorded games, each played to its end", () => {
    expect(existsSync(fileOf(id)), `no playthroughs/${id}.json; see the top of playthroughs.test.ts`).toBe(true);
    expect(read(id).length).toBeGreaterThan(0);
    for (const { name, outcome } of read(id)) expect(outcome, name).not.toBeNull();
  });

  for (const recorded of existsSync(fileOf(id)) ? read(id) : []) {
    it(recorded.name, () => expect(replay(games[id], recorded)).toEqual(recorded));
  }
});

it("every playthrough file belongs to a registered game", () => {
  const files = readdirSync(new URL("./playthroughs/", import.meta.url));
  expect(files.sort()).toEqual(gameIds.map((id) => `${id}.json`).sort());
});
