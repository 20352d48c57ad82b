import { spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Makes every attempt of this process to open a file or a connection fail with EMFILE, until the returned function is called.
 * Three descriptors are allowed, and 0 to 2 stay in use, so nothing becomes free if Node closes one of its own files.
 */
export async function useUpFiles(): Promise<() => Promise<void>> {
  const limitTo = (files: string) => `prlimit --pid $PPID --nofile=${files}:`;
  const script = `allowed=$(ulimit -Sn); ${limitTo("3")} && echo limited && read -r _; ${limitTo("$allowed")}`;
  const shell = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
  await once(shell.stdout, "data");
  return async () => {
    const exited = once(shell, "exit");
    shell.stdin.end("\n");
    await exited;
  };
}
