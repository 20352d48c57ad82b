import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import { jsonIn, writeWhole } from "./atomic-file.ts";

const Who = z.enum(["user", "llm"]);
export const Players = z.object({ red_spymaster: Who, red_team: Who, blue_spymaster: Who, blue_team: Who });
export type Players = z.infer<typeof Players>;

const OpenGame = z.object({
  game_token: z.string(),
  begun_at: z.string(),
  /** The referee that leads it; null for our own, whose data file is named after the port on which the game began. */
  url: z.string().nullable(),
  port: z.int().nullable(),
  players: Players,
  /** The model that played when it was left; the key is not kept. */
  llm: z.object({ url: z.string(), model: z.string(), key_env: z.string(), max_tokens: z.int().nullable() }).nullable(),
});
export type OpenGame = z.infer<typeof OpenGame>;

/** The games that were begun with this data folder and are not over, a file each, for `--continue`. */
export interface OpenGames {
  keep(game: OpenGame): void;
  drop(token: string): void;
  /** The game of a token; without one the newest. */
  find(token: string | null): OpenGame | null;
}

export function openGames(dataFolder: string): OpenGames {
  const folder = join(dataFolder, "codenames");
  const fileOf = (token: string): string => join(folder, `${sha256Hex(token).slice(0, 16)}.json`);
  const read = (file: string): OpenGame | null => {
    const parsed = OpenGame.safeParse(jsonIn(file));
    return parsed.success ? parsed.data : null;
  };
  return {
    keep(game) {
      mkdirSync(folder, { recursive: true });
      writeWhole(fileOf(game.game_token), game);
    },
    drop: (token) => rmSync(fileOf(token), { force: true }),
    find(token) {
      if (token !== null) return read(fileOf(token));
      const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
      const games = names.flatMap((name) => read(join(folder, name)) ?? []);
      return games.sort((a, b) => a.begun_at.localeCompare(b.begun_at)).at(-1) ?? null;
    },
  };
}
