import { type Command, Option } from "commander";
import { countOption, endpointOption } from "#shared/runtime/command-options.ts";
import { DATA_FOLDER, MANAGER_ENDPOINT } from "#shared/runtime/defaults.ts";
import { exitWith, subcommand } from "./command-line.ts";

/** Creates a command of the operator. The operator token is in the data folder of the manager, or in LEAGUE_TOKEN. */
const operatorCommand = (name: string, description: string, args: string): Command =>
  subcommand(name, description, [
    `npm run league -- ${name} ${args}`,
    `npm run league -- ${name} ${args} --data data-class    # the data folder of the manager, as its config says`,
  ])
    .option(
      "--data <folder>",
      "data folder of the manager, with the operator token; or of league run, for its newest run",
      DATA_FOLDER,
    )
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
    .argument("<player...>", "ids or names of players, one for each role of the game")
    .addOption(new Option("--round <n>", "number of the round (required)").argParser(countOption).makeOptionMandatory())
    .option("--league <id>", "id of the league (default: the only running league with all these players)")
    .action(async (players: string[], options) =>
      exitWith((await import("../commands/operator.ts")).scheduleMatch(players, options)),
    );

  operatorCommand("remove", "Remove a player from its leagues.", "P03")
    .argument("<player>", "id or name of the player, e.g. P03")
    .action(async (player: string, options) =>
      exitWith((await import("../commands/operator.ts")).removePlayer(player, options)),
    );

  operatorCommand("reset-token", "Print a new token for a player that has lost its token.", "P03")
    .argument("<player>", "id or name of the player, e.g. P03")
    .action(async (player: string, options) =>
      exitWith((await import("../commands/operator.ts")).resetToken(player, options)),
    );

  addRunningCommands();
}

const running = () => import("../operator/running.ts");

/** Adds the commands that show and change running leagues. */
function addRunningCommands(): void {
  operatorCommand("status", "Show leagues, players and referees.", "rps")
    .argument("[league]", "id of the league (default: all leagues)")
    .option("--json", "print one JSON document")
    .action(async (league: string | undefined, options) => exitWith((await running()).showStatus(league, options)));

  operatorCommand("pause", "Pause running leagues: no match begins until resume.", "rps")
    .argument("<league...>", "ids of the leagues")
    .action(async (leagues: string[], options) => exitWith((await running()).pauseLeagues(leagues, options)));

  operatorCommand("resume", "Continue paused leagues.", "rps")
    .argument("<league...>", "ids of the leagues")
    .action(async (leagues: string[], options) => exitWith((await running()).resumeLeagues(leagues, options)));

  operatorCommand("extend", "Raise the length of a running league.", "rps cycles=2")
    .argument("<league>", "id of the league")
    .argument("<name=number...>", "option of the format: cycles, rounds, games, matches or max_games, e.g. rounds=7")
    .action(async (league: string, raised: string[], options) =>
      exitWith((await running()).extendLeague(league, raised, options)),
    );

  operatorCommand("end", "End a running league with the standings so far. Its open matches are cancelled.", "rps")
    .argument("[league]", "id of the league (default: the only running league)")
    .action(async (league: string | undefined, options) => exitWith((await running()).endLeague(league, options)));

  operatorCommand("add", "Add registered players to a league, or with --round a match.", "P05 --league rps")
    .argument("<player...>", "ids or names of players; with --round one for each role of the game")
    .addOption(new Option("--league <id>", "id of the league (required)").makeOptionMandatory())
    .addOption(new Option("--round <n>", "add a match of these players to this round").argParser(countOption))
    .action(async (players: string[], options) => exitWith((await running()).addTo(players, options)));

  operatorCommand("annul", "Make a match count for no player.", "R2M1 --league rps --reason 'wrong bot'")
    .argument("<match>", "id of the match, e.g. R2M1")
    .addOption(new Option("--league <id>", "id of the league (required)").makeOptionMandatory())
    .addOption(new Option("--reason <text>", "the reason, which is public (required)").makeOptionMandatory())
    .action(async (match: string, options) => exitWith((await running()).annulMatch(match, options)));

  operatorCommand("logs", "Print the events of a league.", "rps --follow")
    .argument("<league>", "id of the league")
    .option("--follow", "continue with each new event until the league is over")
    .action(async (league: string, options) => exitWith((await running()).printLogs(league, options)));
}
