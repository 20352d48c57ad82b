/** Restores the package.json that prepack.ts has replaced. */
import { existsSync, renameSync } from "node:fs";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../..");
export const MANIFEST = join(ROOT, "package.json");
/** Holds the package.json of the clone while the one of the package is in its place. */
export const SAVED_MANIFEST = join(ROOT, "dist", "package.source.json");

export function restoreManifest(): void {
  if (existsSync(SAVED_MANIFEST)) renameSync(SAVED_MANIFEST, MANIFEST);
}

if (import.meta.main) restoreManifest();
