import { readdirSync, readFileSync } from "node:fs";

/** Returns the ids of the helper processes of esbuild that this process has started and that run. */
export function esbuildProcesses(): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const isHelper = readFileSync(`/proc/${name}/cmdline`, "utf8").includes("\0--service=");
      const [, parent] = /\nPPid:\s*(\d+)/.exec(readFileSync(`/proc/${name}/status`, "utf8")) ?? [];
      return isHelper && Number(parent) === process.pid ? [Number(name)] : [];
    } catch {
      return []; // the process has ended
    }
  });
}
