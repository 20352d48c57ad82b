import { type Command, Option } from "commander";
import { countOption, endpointOption } from "#shared/runtime/cli/options.ts";
import { DATA_FOLDER, MANAGER_ENDPOINT } from "#shared/runtime/defaults.ts";
import { exitWith, subcommand } from "./command-line.ts";

/** Creates a command of the operator. The operator token is in the data folder of the manager, or in LEAGUE_TOKEN. */
const operatorCommand = (name: string, description: string, args: string): Command =>
  subcommand(name, description, [
    `npm run league -- ${name} ${args}`,
    `npm run league -- ${name} ${args} --data data-class    # the data folder of the manager, as its config says`,
  ])
    .option("--data <folder>", "data folder of the manager, with the operator token", DATA_FOLDER)
    .option(
      "--manager <url>",
      `the league manager's endpoint (default: of the manager that league serve runs with the folder, else ${MANAGER_ENDPOINT})`,
      endpointOption,
    );

/** Adds the commands of the operator of a served league. */
export function addOperatorCommands(): void {
  operatorCommand("start", "Start leagues with the players that are registered now.", "rps")
    .argument("<league...>", "ids of the leagues")
    .action(async (leagues: string[], options) =>
      exitWith((await import("../commands/operator.ts")).startLeagues(leagues, options)),
    );

  operatorCommand("schedule", "Add a match to a round of a running league.", "P01 P02 --round 3")
    .argument("<player...>", "player ids, one for each role of the game")
    .addOption(new Option("--round <n>", "number of the round (required)").argParser(countOption).makeOptionMandatory())
    .option("--league <id>", "id of the league (default: the only running league with all these players)")
    .action(async (players: string[], options) =>
      exitWith((await import("../commands/operator.ts")).scheduleMatch(players, options)),
    );

  operatorCommand("remove", "Remove a player from its leagues.", "P03")
    .argument("<player>", "id of the player, e.g. P03")
    .action(async (player: string, options) =>
      exitWith((await import("../commands/operator.ts")).removePlayer(player, options)),
    );

  operatorCommand("reset-token", "Print a new token for a player that has lost its token.", "P03")
    .argument("<player>", "id of the player, e.g. P03")
    .action(async (player: string, options) =>
      exitWith((await import("../commands/operator.ts")).resetToken(player, options)),
    );
}
