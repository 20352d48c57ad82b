import { type Command, InvalidArgumentError, Option } from "commander";
import { databaseOption, endpointOption, gameFilesOption } from "#shared/runtime/command-options.ts";
import { DATA_FOLDER } from "#shared/runtime/defaults.ts";
import type { Places } from "../archive/personal-data/personal-data.ts";
import { EXPORT_FOLDER, REPORT_FOLDER, REPORT_FORMATS, type ReportFormat } from "../archive/reports/report-formats.ts";
import type { Source } from "../commands/export.ts";
import { chosenDatabase } from "../database/choice.ts";
import { exitWith, subcommand } from "./command-line.ts";

/** Adds the commands for the results of a league. */
export function addArchiveCommands(): void {
  subcommand("export", "Write a league with its logs and seeds into a folder, or reports of it.", [
    "npm run league -- export                       # the newest run, into league-export",
    "npm run league -- export --out results --sign league.key",
    "npm run league -- export --format csv,pgn      # reports of the newest run, into league-report",
    "npm run league -- export league-export --format html   # a report of an export, as one page",
    "npm run league -- export --database postgres://league@db.example/league",
  ])
    .argument(
      "[folder]",
      `folder of a run, or a data folder for its newest run; for reports also an export (default: "${DATA_FOLDER}")`,
    )
    .addOption(databaseOption())
    .addOption(
      new Option(
        "--format <formats>",
        `json (the folder that "league verify" checks), or reports: ${REPORT_FORMATS.join(", ")}; several with commas`,
      )
        .argParser(formatsOption)
        .default("json"),
    )
    .option("--out <folder>", `folder to write (default: ${EXPORT_FOLDER} for json, ${REPORT_FOLDER} for reports)`)
    .addOption(gameFilesOption())
    .option("--sign <keyfile>", "sign the export with this Ed25519 private key in PEM format (default: not signed)")
    .action(async (folder: string | undefined, options, command: Command) =>
      exitWith((await import("../commands/export.ts")).exportRun(sourceOf(command, folder), options)),
    );

  subcommand("ratings", "Rate the bots of all runs in some folders, each version of a bot by itself.", [
    "npm run league -- ratings                              # all runs of the data folder",
    "npm run league -- ratings data exports/may exports/june --game rps",
    "npm run league -- ratings data-class --json",
    "npm run league -- ratings exports/may --database postgres://league@db.example/league",
  ])
    .argument("[folders...]", `data folders, folders of runs, and exports (default: "${DATA_FOLDER}")`)
    .addOption(databaseOption())
    .option("--game <game>", "only the ratings of this game")
    .option("--json", "print one JSON document on stdout")
    .action(async (named: readonly string[], options, command: Command) => {
      const isOfCommandLine = command.getOptionValueSource("database") === "cli";
      const database = isOfCommandLine || named.length === 0 ? options.database || undefined : undefined;
      const folders = named.length > 0 || database !== undefined ? named : [DATA_FOLDER];
      const { printRatings } = await import("../archive/ratings/print-ratings.ts");
      await exitWith(printRatings(folders, { ...options, database }));
    });

  subcommand("verify", "Check an export: replay every match and recompute the standings.", [
    "npm run league -- verify league-export",
    "npm run league -- verify league-export --key league.pub",
    "npm run league -- verify league-export --game ./my-game.ts   # a league of your own game",
    "npm run league -- verify --database postgres://league@db.example/league",
  ])
    .argument("[folder]", "folder of an export")
    .addOption(databaseOption())
    .addOption(gameFilesOption())
    .option("--key <keyfile>", "require a signature with this Ed25519 key in PEM format (default: no key is required)")
    .option("--json", "print one JSON document on stdout")
    .action(async (folder: string | undefined, options, command: Command) =>
      exitWith((await import("../commands/export.ts")).verify(sourceOf(command, folder), options)),
    );
}

/** Returns the folder or the database that a command reads. Rejects with StartError if both are named. */
async function sourceOf(command: Command, folder: string | undefined): Promise<Source> {
  const database = chosenDatabase(command, folder !== undefined, "a folder");
  return database === null ? { folder } : { database };
}

/** Adds the commands for the personal data of players. */
export function addPersonalDataCommands(): void {
  subcommand("personal-data", "List what a data folder or a database contains about a player.", [
    "npm run league -- personal-data Ann",
    "npm run league -- personal-data P03 --data data-class --json",
    "npm run league -- personal-data Ann --database postgres://league@db.example/league",
  ])
    .argument("<player>", PLAYER)
    .option("--data <folder>", DATA, DATA_FOLDER)
    .addOption(databaseOption())
    .option("--json", "print one JSON document on stdout")
    .action(async (player: string, options, command: Command) => {
      const { listPersonalData } = await import("../archive/personal-data/personal-data.ts");
      await exitWith((async () => listPersonalData(player, { ...options, ...placesOf(command) }))());
    });

  subcommand("forget", "Remove a player and erase its personal data. This cannot be undone.", [
    "npm run league -- forget Ann --data data-class",
    "npm run league -- forget Ann --database postgres://league@db.example/league",
    "npm run league -- forget P03 --manager http://192.168.1.7:8000/mcp",
  ])
    .argument("<player>", PLAYER)
    .option("--data <folder>", DATA, DATA_FOLDER)
    .addOption(databaseOption())
    .option(
      "--manager <url>",
      "let the manager at this endpoint erase the player, by its id (default: of the manager that uses the folder)",
      endpointOption,
    )
    .action(async (player: string, options, command: Command) => {
      const { forget } = await import("../commands/operator.ts");
      await exitWith((async () => forget(player, { ...options, ...placesOf(command) }))());
    });
}

/** Returns where a command looks for the data of a player. Throws StartError if `--manager` and `--database` are named. */
function placesOf(command: Command): Places {
  const { data } = command.opts<{ readonly data: string }>();
  const isNamed = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  const hasBoth = isNamed("database") && isNamed("data");
  const isOther = isNamed("manager") || (isNamed("data") && !hasBoth);
  const database = chosenDatabase(command, isOther, "--manager") ?? undefined;
  return { data, database, files: hasBoth ? data : undefined };
}

const DATA = "data folder of the manager, or folder of a run; beside --database a folder with logs";

const PLAYER = "name of the player, in all runs of the folder, or its id, e.g. P03, in the newest run";

/** Parses the formats of an export. The folder of the format json has no other files, so it is written alone. */
function formatsOption(text: string): "json" | readonly ReportFormat[] {
  if (text === "json") return text;
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const formats = REPORT_FORMATS.filter((format) => names.includes(format));
  if (formats.length === names.length) return formats;
  throw new InvalidArgumentError(`give json, or one or more of ${REPORT_FORMATS.join(", ")}, separated by commas.`);
}
