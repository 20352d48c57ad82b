import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, ROOT, runCommand, temporaryFolder } from "./process.ts";
import { writeSyntheticRun } from "./synthetic-run.ts";

/** The durations of `npm start`, and what its processes load. */
export interface Starts {
  /** Without compiled code. */
  readonly firstMs: number;
  /** With compiled code. */
  readonly followingMs: readonly number[];
  /** The sum of the peak memory of all processes in megabytes. */
  readonly peakMb: number;
  readonly processes: number;
  readonly loaded: readonly LoadedModules[];
}

/** Measures `npm start`: first without compiled code and with the memory, then with compiled code `followingStarts` times. */
export async function startTimes(followingStarts: number): Promise<Starts> {
  const data = temporaryFolder();
  const environment = async (): Promise<NodeJS.ProcessEnv> => {
    const [manager, referee, , player] = await freePorts(7);
    return {
      ...process.env,
      NODE_COMPILE_CACHE: join(data, "compiled"),
      LEAGUE__DATA: data,
      LEAGUE__MANAGER__PORT: String(manager),
      LEAGUE__REFEREES__FIRSTPORT: String(referee),
      LEAGUE__PLAYERSFIRSTPORT: String(player),
    };
  };
  const startOnce = async (isWatched: boolean) =>
    runCommand("npm", ["start", "--", "--quiet", "--seed", "7"], await environment(), isWatched);
  try {
    const { ms: firstMs, peakMb, processes } = await startOnce(true);
    const followingMs: number[] = [];
    for (let turn = 0; turn < followingStarts; turn++) followingMs.push((await startOnce(false)).ms);
    const loaded = await loadedModules(data, await environment());
    return { firstMs, followingMs, peakMb, processes, loaded };
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** What one process of `league run` has loaded until its end. */
interface LoadedModules {
  /** The script, relative to the root: `player/main.ts`. */
  readonly script: string;
  readonly modules: number;
  readonly kilobytes: number;
  /** The packages of node_modules with their sizes, largest first. */
  readonly packages: readonly { readonly name: string; readonly modules: number; readonly kilobytes: number }[];
}

const PRELOAD = `${ROOT}scripts/bench/record-modules.ts`;
const COMPILE_CACHE = `${ROOT}shared/runtime/compile-cache.cjs`;

/** Plays the leagues of the default config, and returns what each kind of process has loaded, by script. */
async function loadedModules(data: string, env: NodeJS.ProcessEnv): Promise<readonly LoadedModules[]> {
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
    script,
    modules: files.length,
    kilobytes: kilobytesOf(files),
    packages: [...packages]
      .map(([name, ofPackage]) => ({ name, modules: ofPackage.length, kilobytes: kilobytesOf(ofPackage) }))
      .sort((one, other) => other.kilobytes - one.kilobytes),
  };
}

const kilobytesOf = (files: readonly string[]): number =>
  Math.round(files.reduce((sum, file) => sum + statSync(file).size, 0) / 1_000);

/** The duration of a manager's start, from the start of the process until it is ready, with the recorded matches of one league in its store. */
export interface ManagerStart {
  readonly matches: number;
  /** The median duration with a snapshot of the league, which a manager writes when it stops. */
  readonly ms: number;
}

const STARTS = 3;

/** Measures the start with a league of this number of players whose last round is not played. */
export async function managerStart(players: number): Promise<ManagerStart> {
  const folder = temporaryFolder();
  const matches = await writeSyntheticRun(folder, players, 1);
  const times: number[] = [];
  // The first start is not measured, because it compiles the code and writes the compile cache.
  for (let start = 0; start <= STARTS; start++) {
    const startedAt = performance.now();
    const manager = await launch(
      "league-manager/main.ts",
      ["--config", join(folder, "config.json"), "--data", folder, "--port", "0"],
      { nodeArgs: ["--require", join(ROOT, "shared/runtime/compile-cache.cjs")] },
    );
    if (start > 0) times.push(performance.now() - startedAt);
    await manager.stop();
  }
  rmSync(folder, { recursive: true });
  return { matches, ms: times.sort((a, b) => a - b)[Math.floor(STARTS / 2)] ?? 0 };
}
