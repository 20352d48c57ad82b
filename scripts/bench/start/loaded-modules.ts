import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT, runCommand } from "../process.ts";

/** What one process of `league run` has loaded until its end. */
export interface LoadedModules {
  /** The script, relative to the root: `player/main.ts`. */
  readonly script: string;
  readonly modules: number;
  readonly kilobytes: number;
  /** The packages of node_modules with their sizes, largest first. */
  readonly packages: readonly { readonly name: string; readonly modules: number; readonly kilobytes: number }[];
}

const PRELOAD = `${ROOT}scripts/bench/start/record-modules.ts`;
const COMPILE_CACHE = `${ROOT}shared/runtime/compile-cache.cjs`;

/** Plays the leagues of the default config, and returns what each kind of process has loaded, by script. */
export async function loadedModules(data: string, env: NodeJS.ProcessEnv): Promise<readonly LoadedModules[]> {
  const folder = join(data, "modules");
  mkdirSync(folder);
  const nodeOptions = `--import ${PRELOAD}`;
  const args = ["--require", COMPILE_CACHE, "scripts/league.ts", "run", "--quiet"];
  await runCommand(process.execPath, args, { ...env, NODE_OPTIONS: nodeOptions, LEAGUE_BENCH_MODULES: folder }, false);
  const records = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as { script: string; urls: string[] },
  );
  const byScript = new Map(records.map(({ script, urls }) => [relative(ROOT, script), urls]));
  return [...byScript]
    .map(([script, urls]) =>
      summaryOf(
        script,
        urls.map((url) => fileURLToPath(url)),
      ),
    )
    .sort((one, other) => (one.script < other.script ? -1 : 1));
}

function summaryOf(script: string, files: readonly string[]): LoadedModules {
  const packages = new Map<string, string[]>();
  for (const file of files) {
    const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    if (name !== undefined) packages.set(name, [...(packages.get(name) ?? []), file]);
  }
  return {
    ...{ script, modules: files.length, kilobytes: kilobytesOf(files) },
    packages: [...packages]
      .map(([name, ofPackage]) => ({ name, modules: ofPackage.length, kilobytes: kilobytesOf(ofPackage) }))
      .sort((one, other) => other.kilobytes - one.kilobytes),
  };
}

const kilobytesOf = (files: readonly string[]): number =>
  Math.round(files.reduce((sum, file) => sum + statSync(file).size, 0) / 1_000);
