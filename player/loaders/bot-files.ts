import { extname } from "node:path";

/** The endings of source files in other languages that can be given as a bot. */
const PROGRAM_ENDINGS = [".py", ".go"] as const;
export type ProgramEnding = (typeof PROGRAM_ENDINGS)[number];

/** The files that can be given as a bot, for help texts and error messages. */
export const BOT_FILES = "a .ts, .js, .py or .go file, an executable file such as ./bot";

/** Whether the text that selects a bot is a TypeScript or JavaScript file. */
export const isModuleFile = (spec: string): boolean => !hasPrefix(spec) && /\.[cm]?[jt]s$/.test(spec);

/** Whether it is another file: the source of a program in another language, or the path of an executable file such as `./bot`. */
export const isProgramFile = (spec: string): boolean =>
  !hasPrefix(spec) && !isModuleFile(spec) && (isProgramEnding(extname(spec)) || /[/\\]/.test(spec));

/** Whether the text that selects a bot is the path of a file. */
export const isBotFile = (spec: string): boolean => isModuleFile(spec) || isProgramFile(spec);

export const isProgramEnding = (ending: string): ending is ProgramEnding =>
  PROGRAM_ENDINGS.some((known) => known === ending);

/** Whether it is a bot of another kind, such as `lines:COMMAND`. */
const hasPrefix = (spec: string): boolean => /^[a-z]{2,}:/.test(spec);
