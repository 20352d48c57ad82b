import { extname } from "node:path";

/** The endings of source files in other languages that can be given as a bot. */
const PROGRAM_ENDINGS = [".py", ".go"] as const;
export type ProgramEnding = (typeof PROGRAM_ENDINGS)[number];

/** The files that can be given as a bot, for help texts and error messages. */
export const BOT_FILES = "a .ts, .js, .py or .go file, an executable file such as ./bot";

/** A setting of a program: its start time, or a process for each match also if the program plays many. */
const SETTING = String.raw`(?:start_ms=[1-9]\d*|matches=one)`;
/** The settings that can follow the file of a program, or its command. */
const SETTINGS = new RegExp(String.raw`\s*#(${SETTING}(?:,\s*${SETTING})*)$`);

/** How a program is started. */
export interface ProgramSettings {
  /** The time that a process has to load what it needs. */
  readonly startMs?: number | undefined;
  /** `one`: each match has a process, also if the program says that it plays many. */
  readonly matches?: "one" | undefined;
}

/** Returns the file or the command in the text that selects a program, and the settings that follow it. */
export function programIn(spec: string): { readonly program: string } & ProgramSettings {
  const [text = "", settings = ""] = SETTINGS.exec(spec) ?? [];
  const startMs = /start_ms=(\d+)/.exec(settings)?.[1];
  return {
    program: spec.slice(0, spec.length - text.length),
    ...(startMs !== undefined && { startMs: Number(startMs) }),
    ...(settings.includes("matches=one") && { matches: "one" }),
  };
}

/** Whether the text that selects a bot is a TypeScript or JavaScript file. */
export const isModuleFile = (spec: string): boolean => !hasPrefix(spec) && /\.[cm]?[jt]s$/.test(spec);

/** Whether it is another file: the source of a program in another language, or the path of an executable file such as `./bot`. */
export const isProgramFile = (spec: string): boolean =>
  !hasPrefix(spec) && !isModuleFile(spec) && (isProgramEnding(extname(programIn(spec).program)) || /[/\\]/.test(spec));

/** Whether the text that selects a bot is the path of a file. */
export const isBotFile = (spec: string): boolean => isModuleFile(spec) || isProgramFile(spec);

export const isProgramEnding = (ending: string): ending is ProgramEnding =>
  PROGRAM_ENDINGS.some((known) => known === ending);

/** Whether it is a bot of another kind, such as `lines:COMMAND`. */
const hasPrefix = (spec: string): boolean => /^[a-z]{2,}:/.test(spec);
