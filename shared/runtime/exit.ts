/** Exit codes of every command (DESIGN.md, section 7). */
export const EXIT = { ok: 0, failed: 1, usage: 2, config: 3, interrupted: 130 } as const;

/** An error whose message is meant for the person at the terminal; it ends the process with its code and no stack. */
export class StartError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}
