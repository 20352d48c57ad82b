import { InvalidArgumentError, Option } from "commander";
import { gameFilesOption } from "#shared/runtime/cli/options.ts";
import { DATA_FOLDER } from "#shared/runtime/defaults.ts";
import { EXPORT_FOLDER, REPORT_FOLDER, REPORT_FORMATS, type ReportFormat } from "../archive/reports/report-formats.ts";
import { exitWith, subcommand } from "./command-line.ts";

/** Adds the commands for the results of a league. */
export function addArchiveCommands(): void {
  subcommand("export", "Write the logs and seeds of a league into a folder that anyone can verify, or reports of it.", [
    "npm run league -- export                       # the newest run, into league-export",
    "npm run league -- export --out results --sign league.key",
    "npm run league -- export --format csv,pgn      # reports of the newest run, into league-report",
    "npm run league -- export league-export --format jsonl   # reports of an export",
  ])
    .argument(
      "[folder]",
      "folder of a run, or a data folder for its newest run; for reports also an export",
      DATA_FOLDER,
    )
    .addOption(
      new Option(
        "--format <formats>",
        `json (the folder that "league verify" checks), or reports: ${REPORT_FORMATS.join(", ")}; several with commas`,
      )
        .argParser(formatsOption)
        .default("json"),
    )
    .option("--out <folder>", `folder to write (default: ${EXPORT_FOLDER} for json, ${REPORT_FOLDER} for reports)`)
    .option("--sign <keyfile>", "sign the export with this Ed25519 private key in PEM format (default: not signed)")
    .action(async (folder: string, options) =>
      exitWith((await import("../commands/export.ts")).exportRun(folder, options)),
    );

  subcommand("verify", "Check an export: replay every match and recompute the standings.", [
    "npm run league -- verify league-export",
    "npm run league -- verify league-export --key league.pub",
    "npm run league -- verify league-export --game ./my-game.ts   # a league of your own game",
  ])
    .argument("<folder>", "folder of an export")
    .addOption(gameFilesOption())
    .option("--key <keyfile>", "require a signature with this Ed25519 key in PEM format (default: no key is required)")
    .option("--json", "print one JSON document on stdout")
    .action(async (folder: string, options) =>
      exitWith((await import("../commands/export.ts")).verify(folder, options)),
    );
}

/** Parses the formats of an export. The folder of the format json has no other files, so it is written alone. */
function formatsOption(text: string): "json" | readonly ReportFormat[] {
  if (text === "json") return text;
  const names = [...new Set(text.split(",").map((name) => name.trim()))];
  const formats = REPORT_FORMATS.filter((format) => names.includes(format));
  if (formats.length === names.length) return formats;
  throw new InvalidArgumentError(`give json, or one or more of ${REPORT_FORMATS.join(", ")}, separated by commas.`);
}
