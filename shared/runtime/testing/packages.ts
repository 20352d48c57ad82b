import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/**
 * Makes sure that a program that the tests need is installed, and returns its path. Installs the package as root on
 * Debian; otherwise throws an error with the command to run.
 */
export function requireProgram(paths: readonly string[], debianPackage: string): string {
  const installed = findProgram(paths);
  if (installed) return installed;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new Error(`the tests need ${debianPackage}: sudo apt-get install -y ${debianPackage}`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const stdio = ["ignore", "ignore", "inherit"] as const;
  execFileSync("apt-get", ["update", "-q"], { env, stdio: [...stdio] });
  execFileSync("apt-get", ["install", "-y", "--no-install-recommends", debianPackage], { env, stdio: [...stdio] });
  const path = findProgram(paths);
  if (!path) throw new Error(`${debianPackage} is installed, but none of ${paths.join(", ")} exists`);
  return path;
}

/** Returns the first path that exists. */
export const findProgram = (paths: readonly string[]): string | undefined => paths.find((path) => existsSync(path));
