import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../testing/processes.ts";

/** Runs `league ARGS`. Rejects with its output if it fails. */
export async function runLeague(args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(root, "scripts/league.ts"), ...args], { cwd: root });
}
