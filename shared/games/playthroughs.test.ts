/**
 * Recorded games replay to the same states, hash by hash: a change of any rule, state or view shows here. A registered game
 * without a file fails. When a change is meant:
 *
 *   UPDATE_PLAYTHROUGHS=1 npx vitest run shared/games/playthroughs.test.ts
 *
 * keeps the recorded actions and writes hashes, views and outcomes anew; a game without a file gets one random game for each
 * of its variants. To add a game, add its options, seed and steps (without hashes) and do the same. Read the diff.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createRandom } from "../lib/rng.ts";
import type { Game, Outcome, Role } from "./game.ts";
import { type GameId, gameIds, games } from "./registry.ts";
import { applyLegal, canonicalJson, playAtRandom, stateHash, variantsOf, viewersOf } from "./simulate.ts";

interface Playthrough {
  readonly name: string;
  readonly options: unknown;
  readonly seed: string;
  /** SHA-256 of the first state's canonical JSON. */
  readonly start: string;
  /** Who did what, and the hash of the state after it. */
  readonly steps: readonly (readonly [role: Role, action: unknown, hash: string])[];
  /** What every viewer is shown at the end. */
  readonly views: Readonly<Record<string, unknown>>;
  readonly outcome: Outcome | null;
}

const fileOf = (id: GameId): URL => new URL(`./playthroughs/${id}.json`, import.meta.url);

function replay(game: Game, recorded: Pick<Playthrough, "name" | "options" | "seed" | "steps">): Playthrough {
  const { name, options, seed } = recorded;
  let state = game.initialState({ options: game.options.parse(options), seed });
  const start = stateHash(state);
  const steps = recorded.steps.map(([role, action]) => {
    state = applyLegal(game, state, role, action);
    return [role, action, stateHash(state)] as const;
  });
  const views = Object.fromEntries(viewersOf(game).map((viewer) => [viewer, game.viewState(state, viewer)]));
  return { name, options, seed, start, steps, views, outcome: game.outcome(state) };
}

function recordAtRandom(game: Game, options: unknown): Playthrough {
  const seed = `playthrough ${game.id}`;
  const { steps } = playAtRandom(game, options, seed, createRandom(seed));
  const name = `at random, options ${canonicalJson(options)}`;
  return replay(game, { name, options, seed, steps: steps.map(({ role, action }) => [role, action, ""]) });
}

/** One step a line, so that a diff can be read. */
function format(playthroughs: readonly Playthrough[]): string {
  const texts = playthroughs.map(({ steps, ...rest }) => {
    const lines = steps.map((step) => `    [${step.map((part) => JSON.stringify(part)).join(", ")}]`);
    const head = JSON.stringify({ ...rest, steps: "STEPS" }, null, 2);
    return head.replace('"STEPS"', () => `[\n${lines.join(",\n")}\n  ]`);
  });
  return `[\n${texts.join(",\n").replace(/^/gm, "  ")}\n]\n`;
}

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
