import { faultLine } from "#shared/lib/schema-messages.ts";
import { didYouMean, parsedJson } from "#shared/lib/text.ts";
import { UciSettings } from "#shared/runtime/config/uci.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/** Begins the text that selects an engine as a bot. */
export const UCI_PREFIX = "uci:";

const OPTION = "option.";
const LIMITS = ["nodes", "depth", "movetime_ms", "start_ms"];
const FORM = "nodes=N, depth=N, movetime_ms=N, start_ms=N or option.NAME=VALUE";

/** The text that selects an engine of a config as a bot. */
export const uciSpec = (settings: UciSettings): string => `${UCI_PREFIX}${JSON.stringify(settings)}`;

/**
 * Returns the settings of `uci:COMMAND`, `uci:COMMAND#SETTINGS` or the text of `uciSpec`. SETTINGS are separated by commas:
 * `depth=8,option.Hash=16`. Throws StartError if they are not valid.
 */
export function settingsIn(spec: string): UciSettings {
  const text = spec.slice(UCI_PREFIX.length).trim();
  const json = text.startsWith("{") ? parsedJson(text) : undefined;
  const parsed = UciSettings.safeParse(json ?? settingsOfText(text));
  if (parsed.success) return parsed.data;
  throw new StartError(parsed.error.issues.map(faultLine).join("\n"), EXIT.config);
}

function settingsOfText(text: string): Record<string, unknown> {
  const [, command = text, settings] = /^(.*)#([\w.][^#=]*=[^#]*)$/.exec(text) ?? [];
  const folder = process.cwd();
  const pairs = (settings?.split(",") ?? []).map((pair) => pairOf(pair));
  const options = pairs.filter(([name]) => name.startsWith(OPTION));
  return {
    command: command.trim(),
    folder,
    ...Object.fromEntries(
      pairs.filter(([name]) => LIMITS.includes(name)).map(([name, value]) => [name, Number(value)]),
    ),
    options: Object.fromEntries(options.map(([name, value]) => [name.slice(OPTION.length), value])),
  };
}

function pairOf(pair: string): readonly [name: string, value: string] {
  const [, name = pair, value] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
  const fault = (reason: string): StartError => new StartError(reason, EXIT.config);
  if (value === undefined) throw fault(`the setting "${pair}" has no value: give ${FORM}`);
  if (name.startsWith(OPTION) && name.length > OPTION.length) return [name, value];
  if (!LIMITS.includes(name)) throw fault(`unknown setting "${name}"${didYouMean(name, LIMITS) || "."} Give ${FORM}`);
  if (!/^[1-9]\d*$/.test(value)) throw fault(`${name} is "${value}": give a whole number from 1`);
  return [name, value];
}
