/** Finds code that takes time, randomness, the network or the disk from the system instead of from its arguments. */

interface Capability {
  readonly name: string;
  /** The advice for a module that needs the capability. */
  readonly instead: string;
  /** Expressions that use the capability. */
  readonly calls: RegExp;
  /** SQL that uses the capability. */
  readonly sql?: RegExp;
  /** Modules that provide the capability. Type imports do not count. */
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
    instead: "take a Clock as an argument; only the entry point of a process passes systemClock",
    calls: /\bsystemClock\b/g,
    modules: /^$/,
    // The entry point of agents, the commands, the virtual clock, which waits for turns of the event loop of this process, and the limit of loads,
    // which take real time in simulations too.
    implementedBy:
      /^(shared\/lib\/(clock|lazy)|shared\/runtime\/agent|scripts\/commands\/[\w-]+|scripts\/simulation\/machines\/scheduler)\.ts$/,
  },
  {
    name: "the interfaces of this machine",
    instead: "take Network (shared/rpc/network.ts) or the result of its interfaces() as an argument",
    calls: /\b(networkInterfaces|readInterfaces)\b/g,
    modules: /^$/,
    // Two commands print the addresses of the manager that they start.
    implementedBy: /^(shared\/rpc\/http\/machine-addresses|scripts\/(run\/run|commands\/serve))\.ts$/,
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
    instead: "take Ids (shared/lib/ids.ts) as an argument; only the entry point of a process passes systemIds",
    calls: /\bsystemIds\b/g,
    modules: /^$/,
    // The entry point of agents, the commands, and the choice of free ports and of the folder of a run.
    implementedBy:
      /^(shared\/lib\/ids|shared\/runtime\/(agent|process\/free-ports)|scripts\/(commands\/[\w-]+|run\/run-folder))\.ts$/,
  },
  {
    name: "the network",
    instead: "take Network (shared/rpc/network.ts) or Peers (shared/rpc/peer/peer.ts) as an argument",
    // `fetch` as the name of a method or a property does not count.
    calls:
      /(?<![\w.]|\w\s*\.\s*)fetch\b(?!:)|\b(globalThis|global|window)\s*(\.\s*fetch\b|\[)|\bnew (WebSocket|EventSource)\b|\bgetBuiltinModule\b/g,
    modules: /^(node:)?(net|http|https|http2|tls|dgram|dns)$|^(undici|ws)(\/|$)/,
    implementedBy: /^shared\/rpc\//,
  },
  {
    name: "the disk",
    instead:
      "take Disk (shared/runtime/files/disk.ts) as an argument; only the entry point of a process passes systemDisk",
    calls: /\b(systemDisk|openLockedStore|lockStore|isInUse|lockFile|openSqlite|threadWriter|localWriter)\b/g,
    modules: /^$/,
    // The entry point of agents, and the commands, which also read the stores of other processes.
    implementedBy: /^(shared\/store\/.*|shared\/runtime\/(files\/disk|files\/locked-store|agent)\.ts|scripts\/.*)$/,
  },
];

/** Files that do not take capabilities as arguments, because simulations do not run them, each with a reason. */
const EXEMPT_FILES: readonly (readonly [files: RegExp, reason: string])[] = [
  [/^shared\/web\/[\w-]+\//, "runs in a browser, as a client of the session host or the manager"],
  [/^shared\/runtime\/process\/parent-watchdog\.ts$/, "ends a process whose parent has ended, on a separate thread"],
  [/^player\/bot-process\/(main|guard)\.ts$/, "the entry point of the process of a bot, and its watching thread"],
  [/^scripts\/bench\//, "measures real processes"],
  [/^scripts\/golden\//, "reads the interfaces of real servers and runs commands, to record what they answer"],
  [/^scripts\/mutants\//, "measures how long the tests of this machine take"],
  [
    /^scripts\/(chaos|conformance|cluster)\/[\w-]+\.ts$/,
    "starts real processes and kills or tests them, or is loaded into those",
  ],
  [/^scripts\/examples\//, "a player without code of this project, which runs as a separate process"],
  [/^scripts\/check\/unusual-post\.ts$/, "a client that cuts connections and sends requests in pieces on purpose"],
];

/** Returns true for tests and test helpers. The path is relative to the root. */
export const isTestCode = (path: string): boolean => /\.test\.ts$|(^|\/)testing\//.test(path);

/** Returns true for files that must take time, randomness, network and disk as arguments. The path is relative to the root. */
export const mustTakeCapabilities = (path: string): boolean =>
  !isTestCode(path) && !EXEMPT_FILES.some(([files]) => files.test(path));

/** Returns the patterns of `EXEMPT_FILES` that match none of the paths. */
export const unusedExemptions = (paths: readonly string[]): readonly string[] =>
  EXEMPT_FILES.flatMap(([files]) => (paths.some((path) => files.test(path)) ? [] : [String(files)]));

const COMMENT_OR_STRING = /\/\*[\s\S]*?\*\/|(?<![:\w])\/\/[^\n]*|"(?:\\.|[^"\\\n])*"/g;

/** Removes comments and strings from the text of a file, except module specifiers. */
export const codeOf = (text: string): string =>
  text.replace(COMMENT_OR_STRING, (found, at: number) =>
    found.startsWith('"') && /\b(from|import)\s*\(?\s*$/.test(text.slice(Math.max(0, at - 20), at)) ? found : "",
  );

/** Removes comments from the text of a file. */
const withoutComments = (text: string): string =>
  text.replace(COMMENT_OR_STRING, (found) => (found.startsWith('"') ? found : ""));

/** Returns the modules that code imports at run time. The code is a result of `codeOf`. */
export const valueImports = (code: string): readonly string[] =>
  [...code.matchAll(/(?:^|\n)\s*(?:import|export)\b([^;"]*?)from\s+"([^"]+)"|\bimport\s*\(?\s*"([^"]+)"/g)].flatMap(
    ([, names = "", from, direct]) => (/^\s*type\b/.test(names) || areAllTypes(names) ? [] : (from ?? direct ?? [])),
  );

/** Returns true if every imported name is a type, as in `import { type Server } from "node:http"`. */
const areAllTypes = (names: string): boolean => {
  const list =
    /\{([^}]*)\}/
      .exec(names)?.[1]
      ?.split(",")
      .filter((name) => name.trim() !== "") ?? [];
  return list.length > 0 && list.every((name) => /^\s*type\b/.test(name));
};

/** Returns one sentence for each capability that a file takes from the system, with the advice of what to use instead. */
export function systemUses(path: string, text: string): readonly string[] {
  const code = codeOf(text);
  const codeWithStrings = withoutComments(text);
  return capabilities
    .filter(({ implementedBy }) => !implementedBy.test(path))
    .flatMap(({ name, instead, calls, sql, modules }) => {
      const inSql = sql ? (codeWithStrings.match(sql) ?? []) : [];
      const found = [
        ...(code.match(calls) ?? []),
        ...inSql,
        ...valueImports(code).filter((from) => modules.test(from)),
      ];
      return found.length === 0
        ? []
        : [`${path} takes ${name} from the system (${[...new Set(found)].join(", ")}): ${instead}`];
    });
}
