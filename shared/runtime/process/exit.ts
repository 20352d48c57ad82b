import { inOneLine } from "../../lib/text.ts";

/** The exit codes of all commands. */
export const EXIT = { ok: 0, failed: 1, usage: 2, config: 3, interrupted: 130 } as const;

/** The causes of a rejection because of the league that a command names. */
const LEAGUE_CAUSES: ReadonlySet<unknown> = new Set(["unknown_league", "league_not_over"]);

/**
 * Returns the exit code of a command whose request was rejected: `usage` if its arguments name an unknown league, a
 * league that is not over, or a name in use (L003).
 */
export const exitOfRejection = (code: unknown, cause: unknown): number =>
  code === "L003" || LEAGUE_CAUSES.has(cause) ? EXIT.usage : EXIT.failed;

/**
 * An error with a message for the person at the terminal. It ends the process with its exit code and without a stack
 * trace.
 */
export class StartError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Thrown if the database file of a running agent has been deleted or replaced. Later writes are lost, and a restart
 * finds no file.
 */
export class StoreLost extends StartError {}

/** Messages for the error codes of the system. */
const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "a file with this name exists",
  EISDIR: "it is a folder",
  ENOENT: "there is no such file or folder",
};

/** Returns the reason of a file system error in plain text. */
export const fileReason = ({ code = "", message }: NodeJS.ErrnoException): string => FILE_FAULTS[code] ?? message;

/**
 * Returns one line about an error of the file system, with the path and the reason. Returns null for any other error.
 */
export function fileFault(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null;
  const { syscall, path, code = "" }: NodeJS.ErrnoException = thrown;
  if (syscall === undefined || path === undefined) return null;
  // Node reports a folder that it cannot create on a read-only file system as missing.
  if (syscall === "mkdir" && code === "ENOENT") return `cannot create ${path}: is the file system read-only?`;
  return inOneLine(`cannot use ${path}: ${fileReason(thrown)}`);
}
