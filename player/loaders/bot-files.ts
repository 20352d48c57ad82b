import { extname } from "node:path";

/** The endings of source files in other languages that can be given as a bot. */
const PROGRAM_ENDINGS = [".py", ".go"] as const;
export type ProgramEnding = (typeof PROGRAM_ENDINGS)[number];

/** The files that can be given as a bot, for help texts and error messages. */
export const BOT_FILES = "a .ts, .js, .py or .go file, an executable file such as ./bot";

/** The start time that can follow the file of a program, or its command. */
const START_MS = /\s*#start_ms=([1-9]\d*)$/;

/** Returns the file or the command in the text that selects a program, and the start time that follows it. */
export function programIn(spec: string): { readonly program: string; readonly startMs?: number } {
  const [setting = "", startMs] = START_MS.exec(spec) ?? [];
  return startMs === undefined
    ? { program: spec }
    : { program: spec.slice(0, -setting.length), startMs: Number(startMs) };
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
