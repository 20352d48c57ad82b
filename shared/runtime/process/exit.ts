import { inOneLine } from "../../lib/text.ts";

/** Exit codes of every command. */
export const EXIT = { ok: 0, failed: 1, usage: 2, config: 3, interrupted: 130 } as const;

/** An error whose message is meant for the person at the terminal; it ends the process with its code and no stack. */
export class StartError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The database file of a running agent has been deleted or replaced: later writes are lost, and a restart finds no file. */
export class StoreLost extends StartError {}

/** The system's error codes in words. */
const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a part of the path is a file",
  EEXIST: "a file is in its place",
  EISDIR: "a folder is in its place",
  ENOENT: "there is no such file or folder",
};

/** The reason of a fault of the file system, in words. */
export const fileReason = ({ code = "", message }: NodeJS.ErrnoException): string => FILE_FAULTS[code] ?? message;

/** A fault of the file system in one line: the path and the reason; null for any other error. */
export function fileFault(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null;
  const { syscall, path, code = "" }: NodeJS.ErrnoException = thrown;
  if (syscall === undefined || path === undefined) return null;
  // Node reports a folder that it cannot create on a read-only file system as missing.
  if (syscall === "mkdir" && code === "ENOENT") return `cannot create ${path}: is the file system read-only?`;
  return inOneLine(`cannot use ${path}: ${fileReason(thrown)}`);
}
