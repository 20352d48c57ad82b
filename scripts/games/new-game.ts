import { readFileSync, writeFileSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { format, recordAtRandom } from "#shared/games/contract/playthroughs.ts";
import { findGame } from "#shared/games/registry.ts";
import { readGame } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { isInstalled, LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import { writeStarter } from "../commands/starter-folder.ts";
import { playthroughFileOf } from "./check-game.ts";

const STARTER = fileURLToPath(new URL("../starters/game/", import.meta.url));
/** The settings with which `npx tsc -p FOLDER` checks the types, in a clone and in another project. */
const TSCONFIG = fileURLToPath(new URL("../starters/ts/tsconfig.json", import.meta.url));
const FILE = "game.ts";
const BOT_FILE = "bot.ts";

/** `league new-game NAME`: writes a folder with a game, a bot, a recorded game and a README. Resolves with the exit code. */
export async function newGame(path: string): Promise<number> {
  const { id, title } = namesOf(basename(resolve(path)));
  if (findGame(id)) throw new StartError(`${id} is a built-in game; choose another name`, EXIT.usage);
  const [file = "", bot = ""] = [FILE, BOT_FILE].map((name) =>
    isAbsolute(path) ? join(path, name) : `./${join(path, name)}`,
  );
  const folder = isAbsolute(path) ? path : `./${join(path)}`;
  const texts: Readonly<Record<string, string>> = { title, id, file, bot, folder, league: LEAGUE_COMMAND };
  writeStarter(path, [
    [FILE, starterCode(FILE, { id, title })],
    [BOT_FILE, starterCode(BOT_FILE, { id, title })],
    ["tsconfig.json", readFileSync(TSCONFIG, "utf8")],
    ["README.md", readStarter("readme.md").replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => texts[name] ?? "")],
    // The nearest package.json decides whether Node reads a file as an ES module.
    ...(isInstalled ? [["package.json", '{ "type": "module" }\n'] as const] : []),
  ]);
  const game = await readGame(resolve(path, FILE));
  if (!game.ok) throw new Error(game.error);
  const recordFile = playthroughFileOf(resolve(path, FILE));
  writeFileSync(recordFile, format([recordAtRandom(game.value, {})]), { flag: "wx" });
  process.stdout.write(
    [
      `${path} has ${FILE}, ${BOT_FILE}, ${basename(recordFile)}, tsconfig.json and README.md. The rules are those of Nim. Next:`,
      `  ${LEAGUE_COMMAND} check-game ${file}    # check the obligations of a game`,
      `  ${LEAGUE_COMMAND} play ${bot} random --game ${file}    # one match between two bots`,
      `${join(path, "README.md")} has all commands.\n`,
    ].join("\n"),
  );
  return EXIT.ok;
}

interface GameNames {
  readonly id: string;
  readonly title: string;
}

const readStarter = (name: string): string => readFileSync(join(STARTER, name), "utf8");

/** Returns the code of a file of the starter with the id and the title of a game. */
export const starterCode = (name: "game.ts" | "bot.ts", { id, title }: GameNames): string =>
  readStarter(name)
    .replace('"nim.v1"', () => JSON.stringify(id))
    .replace('name: "Nim"', () => `name: ${JSON.stringify(title)}`);

/** Returns the id and the title of a game from the name of its folder. Throws StartError if the name has no letters. */
export function namesOf(folder: string): GameNames {
  const words = folder.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const name = words.join("_").slice(0, 50);
  if (!/^[a-z]/.test(name))
    throw new StartError(`${folder}: the name of a game begins with a letter from a to z`, EXIT.usage);
  const text = words.join(" ");
  return { id: `${name}.v1`, title: text.charAt(0).toUpperCase() + text.slice(1) };
}
