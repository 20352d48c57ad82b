import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import { readJson, writeJsonAtomically } from "../run/json-file.ts";

const PlayerKind = z.enum(["user", "llm"]);
const roles = { red_spymaster: PlayerKind, red_team: PlayerKind, blue_spymaster: PlayerKind, blue_team: PlayerKind };
export const Players = z.object(roles);
export type Players = z.infer<typeof Players>;

/** A game that was started and is not over. */
const OpenGame = z.object({
  game_token: z.string(),
  begun_at: z.string(),
  /** The URL of the referee; null for a referee in the process of the command, whose data file is named after `port`. */
  url: z.string().nullable(),
  port: z.int().nullable(),
  players: Players,
  /** The model of the last start of the command. The key is not stored. */
  llm: z.object({ url: z.string(), model: z.string(), key_env: z.string(), max_tokens: z.int().nullable() }).nullable(),
});
export type OpenGame = z.infer<typeof OpenGame>;

/** The open games of a data folder, for `--continue`. Each game has one file. */
export interface OpenGames {
  add(game: OpenGame): void;
  remove(token: string): void;
  /** Returns the game with this token, or the newest game if the token is null. Returns null if there is none. */
  find(token: string | null): OpenGame | null;
}

/** Opens the games of a data folder. */
export function openGames(dataFolder: string): OpenGames {
  const folder = join(dataFolder, "codenames");
  const fileOf = (token: string): string => join(folder, `${sha256Hex(token).slice(0, 16)}.json`);
  const read = (file: string): OpenGame | null => {
    const parsed = OpenGame.safeParse(readJson(file));
    return parsed.success ? parsed.data : null;
  };
  return {
    add(game) {
      mkdirSync(folder, { recursive: true });
      writeJsonAtomically(fileOf(game.game_token), game);
    },
    remove: (token) => rmSync(fileOf(token), { force: true }),
    find(token) {
      if (token !== null) return read(fileOf(token));
      const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
      const games = names.flatMap((name) => read(join(folder, name)) ?? []);
      return games.sort((a, b) => a.begun_at.localeCompare(b.begun_at)).at(-1) ?? null;
    },
  };
}
