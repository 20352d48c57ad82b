import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { root } from "../testing/processes.ts";

/** The output of `verify` names each match that was played again. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Runs `league ARGS`. Resolves with its output on stdout. Rejects with its output if it fails. */
export async function runLeague(args: readonly string[]): Promise<string> {
  const command = [join(root, "scripts/league.ts"), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root, maxBuffer: MAX_OUTPUT_BYTES });
  return stdout;
}

/** Runs `league ARGS --json`. Resolves with the document that it prints, also if it reports faults by exit code 1. */
export async function leagueDocument<T>(args: readonly string[]): Promise<T> {
  const text = await runLeague([...args, "--json"]).catch((thrown: { code?: unknown; stdout?: string }) => {
    if (thrown.code === EXIT.failed && thrown.stdout) return thrown.stdout;
    throw thrown;
  });
  return JSON.parse(text) as T;
}
