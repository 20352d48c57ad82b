import type { Command } from "commander";
import { formatIds } from "#shared/formats/registry.ts";
import { countOption } from "#shared/runtime/command-options.ts";

/** Adds the options that replace the format of the leagues of a config. */
export const withFormatOptions = (command: Command): Command =>
  command
    .option("--format <format>", `format of every league: ${formatIds.join(", ")} (default: the config's)`)
    .option("--format-option <name=value...>", "options of the format (default: the config's)")
    .option("--rounds <n>", "the format option rounds, of swiss", countOption)
    .option("--games <n>", "the format option games, of match", countOption)
    .option("--cycles <n>", "the format option cycles, of round-robin", countOption);
