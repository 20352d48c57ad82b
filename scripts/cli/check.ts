import { Option } from "commander";
import { Timeouts } from "#shared/protocol/message-fields.ts";
import { countOption, portOption, withPermissionOptions } from "#shared/runtime/command-options.ts";
import { PORT_RANGES } from "#shared/runtime/defaults.ts";
import { exitWith, subcommand } from "./command-line.ts";

/** Adds the command that checks a player. */
export function addCheckCommand(): void {
  withPermissionOptions(
    subcommand("check", "Check a player: send it every message of a league and print what to fix.", [
      "npm run league -- check ./my-bot.ts",
      "npm run league -- check ./my-bot.ts --game rps --option best_of=5",
      "npm run league -- check http://127.0.0.1:8150/mcp --game rps    # a running player",
      "npm run league -- check --listen                                # a player that registers at port 8000 by itself",
    ]),
  )
    .argument("[player]", "a bot as in league join, or the URL of a running player")
    .addOption(new Option("--listen", "wait until a player registers").conflicts(["tokenFile"]))
    .option("--port <port>", "with --listen: the port of the manager", portOption, PORT_RANGES.manager[0])
    .option("--lan", "with --listen: listen on every address (default: this machine only)")
    .option(
      "--token-file <file>",
      "file with the token or secret of a running player (default: none, so a player that checks signatures rejects the messages)",
    )
    .option("--game <game...>", "ids or files of the games to check (default: all games of the player)")
    .option(
      "--option <name=value...>",
      "with one --game: its options, e.g. best_of=5 (default: those that leagues use)",
    )
    .option("--only <check...>", "numbers or ids of checks; the checks that they need run too (default: all)")
    .option("--move-ms <ms>", "time limit for a move, milliseconds", countOption, Timeouts.parse({}).move_ms)
    .option("--json", "print one JSON document on stdout")
    .action(async (player: string | undefined, options) =>
      exitWith((await import("../commands/check.ts")).check(player, options)),
    );
}
