import { pathOf } from "#shared/lib/schema-messages.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { League } from "#shared/runtime/config/leagues.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

/** The options of a command that replace the format of every league of a config. */
export interface FormatFlags {
  /** The id of a format. The format options of the config are then not used. */
  readonly format?: string;
  /** Options of the format as `name=value`. */
  readonly formatOption?: readonly string[];
  readonly rounds?: number;
  readonly games?: number;
  readonly cycles?: number;
}

/** The options of formats that have an option of the command line. */
const SHORTCUTS = ["rounds", "games", "cycles"] as const;

/** Whether a command replaces the format or one of its options. */
export const changesFormat = ({ format, formatOption = [], ...flags }: FormatFlags): boolean =>
  format !== undefined || formatOption.length > 0 || SHORTCUTS.some((name) => flags[name] !== undefined);

/** Returns the config with the format of the command. Throws StartError if a league cannot have it. */
export function withFormat<T extends Pick<Config, "leagues">>(config: T, flags: FormatFlags): T {
  if (!changesFormat(flags)) return config;
  const { format, formatOption = [] } = flags;
  const given = {
    ...Object.fromEntries(formatOption.map(parsedOption)),
    ...Object.fromEntries(SHORTCUTS.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]]))),
  };
  const leagues = config.leagues.map((league) => {
    const format_options = format === undefined ? { ...league.format_options, ...given } : given;
    const parsed = League.safeParse({ ...league, format: format ?? league.format, format_options });
    if (parsed.success) return parsed.data;
    const faults = parsed.error.issues.map(
      ({ path, message }) => `${flagOf(path)} (league ${league.league_id}): ${message}`,
    );
    throw new StartError(faults.join("\n"), EXIT.usage);
  });
  return { ...config, leagues };
}

/** Returns the name and the value of `name=value`. A value that is valid JSON is parsed; any other value is text. */
function parsedOption(pair: string): readonly [name: string, value: unknown] {
  const [name = "", ...rest] = pair.split("=");
  const text = rest.join("=");
  return [name, parsedJson(text) ?? text];
}

/** Returns the option of the command line that sets a field of a league. */
function flagOf([field, ...path]: readonly PropertyKey[]): string {
  if (field !== "format_options") return field === "format" ? "--format" : String(field);
  const name = pathOf(path);
  if (SHORTCUTS.some((shortcut) => shortcut === name)) return `--${name}`;
  return name === "" ? "--format-option" : `--format-option ${name}`;
}

/** Returns a config with these clocks in all leagues; the config itself without them. */
export const withClock = <T extends Pick<Config, "leagues">>(config: T, clock: TimeControl | undefined): T =>
  clock === undefined ? config : { ...config, leagues: config.leagues.map((league) => ({ ...league, clock })) };
