import { resolve } from "node:path";
import { err, ok, type Result } from "../../lib/result.ts";
import { isGameFile, loadGame } from "../games/game-files.ts";

interface GameFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Loads and registers the games of the files that a config names in `games` and in `leagues[].game`, relative to its
 * folder. Returns the config with the absolute paths of all files in `games` and with the ids of the games in `leagues`,
 * or the fault of each file that does not load. Values of another form are left to the schema.
 */
export async function loadConfigGames(config: unknown, folder: string): Promise<Result<unknown, readonly GameFault[]>> {
  const { games, leagues } = (config ?? {}) as { readonly games?: unknown; readonly leagues?: unknown };
  const named = [
    ...listOf(games).map((file, index) => ({ file, path: ["games", index] })),
    ...listOf(leagues).map((league, index) => ({ file: gameOf(league), path: ["leagues", index, "game"] })),
  ];
  const faults: GameFault[] = [];
  /** The id of the game of each file. */
  const ids = new Map<string, string>();
  for (const { file, path } of named) {
    if (typeof file !== "string" || (path[0] === "leagues" && !isGameFile(file))) continue;
    const loaded = await loadGame(resolve(folder, file));
    if (loaded.ok) ids.set(resolve(folder, file), loaded.value.id);
    else faults.push({ path, message: loaded.error });
  }
  if (faults.length > 0) return err(faults);
  if (ids.size === 0) return ok(config);
  const idOf = (game: unknown): unknown => (typeof game === "string" && ids.get(resolve(folder, game))) || game;
  const withIds = listOf(leagues).map((league) =>
    gameOf(league) === undefined ? league : { ...(league as object), game: idOf(gameOf(league)) },
  );
  return ok({ ...(config as object), games: [...ids.keys()], ...(Array.isArray(leagues) && { leagues: withIds }) });
}

const gameOf = (league: unknown): unknown => (league as { readonly game?: unknown } | null)?.game;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
