import { exitWith, subcommand } from "./command-line.ts";

/** Adds the commands for authors of games. */
export function addGameCommands(): void {
  subcommand(
    "new-game",
    "Write a folder with a game to start from, a bot, a recorded game, and a README with the next commands.",
    ["npm run league -- new-game my-game"],
  )
    .argument("<name>", "folder to write; it must not exist. Its name is the name of the game")
    .action(async (name: string) => exitWith((await import("../games/new-game.ts")).newGame(name)));

  subcommand("check-game", "Check a game of your own: play it at random and explain each violated obligation.", [
    "npm run league -- check-game ./my-game/game.ts",
    "npm run league -- check-game ./my-game/game.ts --option heap=20    # with other options too",
    "npm run league -- check-game ./my-game/game.ts --record            # after an intended change of the rules",
  ])
    .argument("<file>", "the .ts or .js file of the game")
    .option(
      "--option <name=value...>",
      "options to check besides the defaults and those of the recorded games (default: none)",
    )
    .option("--record", "record the games beside the file again, and one with these options")
    .option("--json", "print one JSON document on stdout")
    .action(async (file: string, options) =>
      exitWith((await import("../games/check-game.ts")).checkGameFile(file, options)),
    );
}
