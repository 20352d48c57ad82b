/** Finds code that takes time, randomness, the network or the disk from the system instead of from its arguments. */

interface Capability {
  readonly name: string;
  /** What a module that needs it does instead. */
  readonly instead: string;
  /** Calls that give it. */
  readonly calls: RegExp;
  /** SQL that gives it. */
  readonly sql?: RegExp;
  /** Modules that give it. Imports of types are no use of it. */
  readonly modules: RegExp;
  /** The files that implement it. */
  readonly implementedBy: RegExp;
}

const capabilities: readonly Capability[] = [
  {
    name: "time",
    instead: "take a Clock (shared/lib/clock.ts) as an argument; tests pass systemClock or a manualClock",
    calls:
      /\b(setTimeout|setInterval|setImmediate)\b|\bperformance\s*\.|\bDate\s*\.\s*now\b|\bnew Date\b(?!\s*\(\s*[^)\s])|\bAbortSignal\s*\.\s*timeout\b|\bprocess\s*\.\s*(hrtime|nextTick)\b|\bqueueMicrotask\b/g,
    sql: /'now'|\bCURRENT_(TIMESTAMP|DATE|TIME)\b|(?<!\.)\b(datetime|unixepoch|julianday)\s*\(\s*\)/gi,
    modules: /^(node:)?(timers|perf_hooks)\b/,
    implementedBy: /^shared\/lib\/clock\.ts$/,
  },
  {
    name: "the clock of the system",
    instead: "take a Clock as an argument; only what composes a process passes systemClock",
    calls: /\bsystemClock\b/g,
    modules: /^$/,
    // The entry of an agent, the commands, and virtual time, which waits for the turns of this process.
    implementedBy:
      /^(shared\/lib\/clock|shared\/runtime\/agent|scripts\/commands\/[\w-]+|scripts\/simulation\/machines\/scheduler)\.ts$/,
  },
  {
    name: "the interfaces of this machine",
    instead: "take Network (shared/rpc/network.ts) or the result of its interfaces() as an argument",
    calls: /\b(networkInterfaces|readInterfaces)\b/g,
    modules: /^$/,
    // Two commands print the addresses of the manager that they start.
    implementedBy: /^(shared\/rpc\/http\/network-interfaces|scripts\/(run\/run|commands\/serve))\.ts$/,
  },
  {
    name: "randomness",
    instead: "take a Random (shared/lib/rng.ts) or Ids (shared/lib/ids.ts) as an argument",
    calls: /\bMath\s*\.\s*random\b|\b(randomBytes|randomUUID|randomInt|randomFill|randomFillSync|getRandomValues)\b/g,
    modules: /^$/,
    implementedBy: /^shared\/lib\/ids\.ts$/,
  },
  {
    name: "the randomness of the system",
    instead: "take Ids (shared/lib/ids.ts) as an argument; only what composes a process passes systemIds",
    calls: /\bsystemIds\b/g,
    modules: /^$/,
    // The entry of an agent, the commands, and what they begin with: free ports and the folder of a run.
    implementedBy:
      /^(shared\/lib\/ids|shared\/runtime\/(agent|process\/free-ports)|scripts\/(commands\/[\w-]+|run\/run-folder))\.ts$/,
  },
  {
    name: "the network",
    instead: "take Network (shared/rpc/network.ts) or Peers (shared/rpc/peer/peer.ts) as an argument",
    // Not the name of a method or of a property.
    calls:
      /(?<![\w.]|\w\s*\.\s*)fetch\b(?!:)|\b(globalThis|global|window)\s*(\.\s*fetch\b|\[)|\bnew (WebSocket|EventSource)\b|\bgetBuiltinModule\b/g,
    modules: /^(node:)?(net|http|https|http2|tls|dgram|dns)$|^(undici|ws)(\/|$)/,
    implementedBy: /^shared\/rpc\//,
  },
  {
    name: "the disk",
    instead: "take Disk (shared/runtime/files/disk.ts) as an argument; only what composes a process passes systemDisk",
    calls: /\b(systemDisk|openLockedStore|lockStore|isInUse|takeFile|openSqlite|threadWriter|localWriter)\b/g,
    modules: /^$/,
    // The entry of an agent, and the commands, which also read the stores of other processes.
    implementedBy: /^(shared\/store\/.*|shared\/runtime\/(files\/disk|files\/locked-store|agent)\.ts|scripts\/.*)$/,
  },
];

/** Programs and files outside of the system that a simulation runs, each with the reason. */
const OUTSIDE: readonly (readonly [files: RegExp, reason: string])[] = [
  [/^league-manager\/api\/pages\/follow-script\.ts$/, "runs in a browser, on the manager's page"],
  [/^shared\/web\/(client|boards|texts|transports)\//, "runs in a browser, as a client of the session host"],
  [/^shared\/runtime\/process\/parent-watchdog\.ts$/, "ends a process whose parent has ended, on a separate thread"],
  [/^player\/loaders\/slow-load\.ts$/, "names a file that does not finish loading, on a separate thread"],
  [/^scripts\/bench\//, "measures real processes"],
  [/^scripts\/(chaos|conformance)\/\w+\.ts$/, "starts real processes and kills or tests them, or is loaded into those"],
  [/^scripts\/examples\//, "a player without any code of this project, which runs as a separate process"],
  [/^scripts\/codenames\/(completions|model)\.ts$/, "a client of an LLM provider"],
];

/** Whether a file, by its path from the root, is a test or a helper of tests. */
export const isTestCode = (path: string): boolean => /\.test\.ts$|(^|\/)testing\//.test(path);

/** Whether a file, by its path from the root, gets its capabilities as arguments. */
export const takesCapabilities = (path: string): boolean =>
  !isTestCode(path) && !OUTSIDE.some(([files]) => files.test(path));

/** Each rule that is given up on paths that do not exist any more. */
export const unusedExceptions = (paths: readonly string[]): readonly string[] =>
  OUTSIDE.flatMap(([files]) => (paths.some((path) => files.test(path)) ? [] : [String(files)]));

const COMMENT_OR_STRING = /\/\*[\s\S]*?\*\/|(?<![:\w])\/\/[^\n]*|"(?:\\.|[^"\\\n])*"/g;

/** The code of a file without comments and strings, except the names of imported modules. */
export const codeOf = (text: string): string =>
  text.replace(COMMENT_OR_STRING, (found, at: number) =>
    found.startsWith('"') && /\b(from|import)\s*\(?\s*$/.test(text.slice(Math.max(0, at - 20), at)) ? found : "",
  );

/** The text of a file without comments. */
const withoutComments = (text: string): string =>
  text.replace(COMMENT_OR_STRING, (found) => (found.startsWith('"') ? found : ""));

/** What code that `codeOf` returns imports at run time. */
export const valueImports = (code: string): readonly string[] =>
  [...code.matchAll(/(?:^|\n)\s*(?:import|export)\b([^;"]*?)from\s+"([^"]+)"|\bimport\s*\(?\s*"([^"]+)"/g)].flatMap(
    ([, names = "", from, direct]) => (/^\s*type\b/.test(names) || isTypesOnly(names) ? [] : (from ?? direct ?? [])),
  );

/** Whether every imported name is a type, as in `import { type Server } from "node:http"`. */
const isTypesOnly = (names: string): boolean => {
  const list =
    /\{([^}]*)\}/
      .exec(names)?.[1]
      ?.split(",")
      .filter((name) => name.trim() !== "") ?? [];
  return list.length > 0 && list.every((name) => /^\s*type\b/.test(name));
};

/** What a file takes from the system, each with what to use instead. */
export function takenFromSystem(path: string, text: string): readonly string[] {
  const code = codeOf(text);
  const texts = withoutComments(text);
  return capabilities
    .filter(({ implementedBy }) => !implementedBy.test(path))
    .flatMap(({ name, instead, calls, sql, modules }) => {
      const inTexts = sql ? (texts.match(sql) ?? []) : [];
      const found = [
        ...(code.match(calls) ?? []),
        ...inTexts,
        ...valueImports(code).filter((from) => modules.test(from)),
      ];
      return found.length === 0
        ? []
        : [`${path} takes ${name} from the system (${[...new Set(found)].join(", ")}): ${instead}`];
    });
}
