import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { configSchema, SCHEMA_FILE } from "./commands/config-schema.ts";
import { codeOf, mustTakeCapabilities, systemUses, unusedExemptions, valueImports } from "./testing/capabilities.ts";
import { impurities, mustBePure, PURE_FOLDERS } from "./testing/purity.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCE_FOLDERS = ["shared", "league-manager", "referee", "player", "scripts"] as const;

/** The layer of each component. A component may import components of lower layers. */
const LAYERS: Readonly<Record<string, number>> = {
  "shared/lib": 0,
  "shared/statistics": 1,
  "shared/games": 1,
  "shared/session": 2,
  "shared/protocol": 2,
  "shared/formats": 3,
  "shared/standings": 3,
  "shared/store": 3,
  "shared/rpc": 3,
  "shared/runtime": 4,
  "shared/web": 4,
  "league-manager": 5,
  referee: 5,
  player: 5,
  scripts: 6,
};

/** The components that may import each library. */
const LIBRARY_USERS: Readonly<Record<string, readonly string[]>> = {
  "json-rpc-2.0": ["shared/rpc"],
  undici: ["shared/rpc"],
  ws: ["shared/rpc"],
  "chess.js": ["shared/games"],
  openskill: ["shared/statistics"],
  "edmonds-blossom-fixed": ["shared/formats"],
  "eventsource-parser": ["shared/lib"],
  kysely: ["shared/store", "league-manager", "referee"],
  pg: ["shared/store", "league-manager"],
  "pg-boss": ["league-manager"],
  "node:sqlite": ["shared/store", "league-manager", "referee"],
  express: ["shared/runtime", "shared/web", "league-manager", "referee"],
  "prom-client": ["league-manager", "referee"],
  helmet: ["shared/runtime"],
  esbuild: ["shared/web", "player", "scripts"],
  preact: ["shared/web"],
  "@modelcontextprotocol/client": ["shared/rpc"],
  "@modelcontextprotocol/server": ["shared/rpc"],
  "@modelcontextprotocol/node": ["shared/rpc"],
  pino: ["shared/runtime"],
  commander: ["shared/runtime", "league-manager", "referee", "player", "scripts"],
};

interface Import {
  /** The path of the importing file from the root. */
  readonly file: string;
  /** The component of the importing file. */
  readonly component: string;
  /** The module specifier. */
  readonly to: string;
}

const allFiles = SOURCE_FOLDERS.flatMap((folder) => files(join(root, folder)));
const sources = allFiles.filter((file) => /\.tsx?$/.test(file));
const isTest = (file: string): boolean =>
  /\.test\.ts$|\/testing\/|\/scripts\/(e2e|bench|conformance|golden|simulation|examples)\//.test(file);
const imports: readonly Import[] = sources.filter((file) => !isTest(file)).flatMap(importsOf);
const testImports: readonly Import[] = sources.filter(isTest).flatMap(importsOf);

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
}

/** Returns the component of a file: the top-level folder, or the folder below `shared`. */
function componentOf(file: string): string {
  const [top = "", below = ""] = relative(root, file).split("/");
  return top === "shared" ? `shared/${below}` : top;
}

function importsOf(file: string): Import[] {
  const found = readFileSync(file, "utf8").matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^;"']*?from\s+["']([^"']+)["']|import\(["']([^"']+)["']\)/g,
  );
  return [...found].map((match) => ({
    file: relative(root, file),
    component: componentOf(file),
    to: match[1] ?? match[2] ?? "",
  }));
}

/** Returns the absolute path of an imported file of this repository; null for libraries. */
function targetOf({ file, to }: Import): string | null {
  if (to.startsWith("#shared/")) return join(root, "shared", to.slice("#shared/".length));
  if (to.startsWith(".")) return resolve(root, dirname(file), to);
  return null;
}

/** Returns the component of an imported file of this repository; null for libraries. */
function targetComponent(one: Import): string | null {
  const target = targetOf(one);
  return target === null ? null : componentOf(target);
}

/** Top-level folders whose subfolders must form no import cycle. */
const ACYCLIC_FOLDERS = ["league-manager", "referee", "player", "shared"];

/** Returns the folder of a file. A file directly in a top-level folder is a unit by itself, because it connects the folders of its service. */
function unitOf(file: string): string {
  const path = relative(root, file);
  return path.split("/").length === 2 ? path : dirname(path);
}

/** Maps each unit to the units that its files import, each with an example of such an import. Type imports count. */
function unitImports(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const units = new Map<string, Map<string, string>>();
  for (const one of imports) {
    const target = targetOf(one);
    if (target === null || !ACYCLIC_FOLDERS.some((top) => one.file.startsWith(`${top}/`))) continue;
    const [from, to] = [unitOf(join(root, one.file)), unitOf(target)];
    if (from !== to) units.set(from, (units.get(from) ?? new Map()).set(to, `${one.file} imports ${one.to}`));
  }
  return units;
}

type Importing = ReadonlyMap<string, { keys(): Iterable<string> }>;

/** Returns the units, or files, that one of them imports directly or indirectly. */
function reachableFrom(unit: string, units: Importing, found = new Set<string>()): Set<string> {
  for (const next of units.get(unit)?.keys() ?? []) {
    if (found.has(next)) continue;
    found.add(next);
    reachableFrom(next, units, found);
  }
  return found;
}

describe("the source tree", () => {
  it("components import only components of lower layers", () => {
    const wrong = imports.filter((one) => {
      const target = targetComponent(one);
      if (target === null || target === one.component || target === "package.json") return false;
      return (LAYERS[one.component] ?? -1) <= (LAYERS[target] ?? 99);
    });
    expect(wrong.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it("the folders of league-manager, referee, player and shared form no import cycle", () => {
    const units = unitImports();
    expect([...units.keys()]).toEqual(
      expect.arrayContaining(["league-manager/agents", "referee/play", "referee/codenames", "shared/web/play"]),
    );
    const cyclic = [...units].flatMap(([from, targets]) =>
      [...targets].flatMap(([to, example]) => (reachableFrom(to, units).has(from) ? [example] : [])),
    );
    expect(cyclic).toEqual([]);
  });

  it("files form no import cycle, and type imports count", () => {
    const files = new Map<string, Set<string>>();
    for (const one of [...imports, ...testImports]) {
      const target = targetOf(one);
      if (target !== null) files.set(one.file, (files.get(one.file) ?? new Set()).add(relative(root, target)));
    }
    const cyclic = [...files.keys()].filter((file) => reachableFrom(file, files).has(file));
    expect(cyclic).toEqual([]);
  });

  it("the referee computes views in referee/views.ts only", () => {
    const refereeFiles = sources.filter((file) => relative(root, file).startsWith("referee/") && !isTest(file));
    const callers = refereeFiles.filter((file) => /\.viewState\(|session\/view\.ts"/.test(readFileSync(file, "utf8")));
    const wrong = callers.map((file) => relative(root, file)).filter((file) => file !== "referee/views.ts");
    expect(callers.length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });

  it("every source file belongs to a component with a layer", () => {
    expect([...new Set(sources.map(componentOf))].filter((component) => LAYERS[component] === undefined)).toEqual([]);
  });

  it("ARCHITECTURE.md shows the layer of each component", () => {
    const rows = readFileSync(join(root, "ARCHITECTURE.md"), "utf8").matchAll(/^\| `([^`]+)` \|.*\| (\d) \|$/gm);
    expect(Object.fromEntries([...rows].map(([, component = "", layer]) => [component, Number(layer)]))).toEqual(
      LAYERS,
    );
  });

  it.each(Object.entries(LIBRARY_USERS))("%s is imported only in %s", (library, components) => {
    const users = imports.filter(({ to }) => to === library || to.startsWith(`${library}/`));
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter(({ component }) => !components.includes(component)).map(({ file }) => file)).toEqual([]);
  });

  // All builds of a process share one helper process. A build during which it is stopped never settles.
  it("only shared/web/esbuild.ts loads esbuild", () => {
    const loaders = sources.filter((file) => valueImports(codeOf(readFileSync(file, "utf8"))).includes("esbuild"));
    expect(loaders.map((file) => relative(root, file))).toEqual(["shared/web/esbuild.ts"]);
  });

  it("games, sessions, messages and decisions of the manager depend only on their arguments", () => {
    const pure = sources.map((file) => relative(root, file)).filter(mustBePure);
    expect(new Set(pure.map(dirname))).toEqual(
      new Set([...PURE_FOLDERS, "shared/games/chess", "shared/games/contract", "shared/protocol/dialects"]),
    );
    expect(pure.flatMap((path) => impurities(path, readFileSync(join(root, path), "utf8")))).toEqual([]);
  });

  it("only the implementations of time, randomness, network and disk take them from the system", () => {
    const paths = sources.map((file) => relative(root, file));
    const uses = paths
      .filter(mustTakeCapabilities)
      .flatMap((path) => systemUses(path, readFileSync(join(root, path), "utf8")));
    expect(uses).toEqual([]);
    expect(unusedExemptions(paths)).toEqual([]);
  });

  it("files that are exempt from the rules for capabilities measure time with the monotonic clock, not with dates", () => {
    const date = /\bDate\.now\b|\bnew Date\b(?!\s*\(\s*[^)\s])/;
    const exempt = sources.filter((file) => !isTest(file) && !mustTakeCapabilities(relative(root, file)));
    const readers = exempt.filter((file) => date.test(readFileSync(file, "utf8")));
    expect(exempt.length).toBeGreaterThan(0);
    expect(readers.map((file) => relative(root, file))).toEqual([]);
  });

  it("no literal is spread into another literal, because its elements can stand there", () => {
    const spread = /^\s*\.\.\.(?:\{[^{}]*\}|\[[^[\]]*\]),?$/m;
    const spreading = sources.filter((file) => spread.test(readFileSync(file, "utf8")));
    expect(spreading.map((file) => relative(root, file))).toEqual([]);
  });

  it("files are at most three folders deep", () => {
    expect(sources.filter((file) => relative(root, file).split("/").length > 4)).toEqual([]);
  });

  it("tests and test helpers of a service import only from this service and from shared", () => {
    const inServices = testImports.filter(
      ({ component }) => component !== "scripts" && !component.startsWith("shared/"),
    );
    const inShared = testImports.filter(({ component }) => component.startsWith("shared/"));
    const isForeign = (one: Import): boolean => {
      const target = targetComponent(one);
      return target !== null && ![one.component, "package.json"].includes(target) && !target.startsWith("shared/");
    };
    const isHelper = (one: Import): boolean => isTest(targetOf(one) ?? "");
    const wrong = [...inServices.filter(isForeign), ...inShared.filter((one) => isForeign(one) && isHelper(one))];
    expect(inServices.filter(isHelper).length).toBeGreaterThan(50);
    expect(wrong.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  // Test files share loaded modules: a hook in a helper would run only for the test file that loads the helper first.
  it("test helpers register no hooks when they are loaded", () => {
    const helpers = sources.filter((file) => /\/testing\//.test(file));
    expect(helpers.length).toBeGreaterThan(10);
    const hooked = helpers.filter((file) => /^(before|after)(Each|All)\(/m.test(readFileSync(file, "utf8")));
    expect(hooked.map((file) => relative(root, file))).toEqual([]);
  });

  // A limit that fits this machine fails on a slower one.
  it("waits and tests have the limits of shared/lib/testing/wait-options.ts", () => {
    const ownLimit =
      /\b(test|hook)Timeout: \d|setDefaultTimeout\(\d|^ *\}, [\d_]{4,}\);$|\.(line|poll)\(.*, ([\d_]{4,}|\{ timeout: .*)\)/m;
    const withLimits = sources.filter(isTest).filter((file) => {
      const text = readFileSync(file, "utf8");
      const [waits, options] = [/\bvi\.wait(For|Until)\(/g, /\bWAIT_OPTIONS\b(?! \})/g].map(
        (one) => text.match(one)?.length ?? 0,
      );
      return ownLimit.test(text) || (waits ?? 0) > (options ?? 0);
    });
    expect(withLimits.map((file) => relative(root, file))).toEqual([]);
  });

  it("the repository has no unlisted top-level folder", () => {
    const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
    const folders = new Set(tracked.filter((file) => file.includes("/")).map((file) => file.split("/")[0]));
    expect([...folders].filter((name) => !["config", "docs", ...SOURCE_FOLDERS, ".ci"].includes(name ?? ""))).toEqual(
      [],
    );
  });
});

describe("generated files", () => {
  it("config/league.schema.json equals the output of `npm run schema`", () => {
    expect(statSync(SCHEMA_FILE).isFile()).toBe(true);
    expect(readFileSync(SCHEMA_FILE, "utf8")).toBe(configSchema());
  });

  it("the config schema describes every field", () => {
    interface Node {
      readonly description?: string;
      readonly properties?: Readonly<Record<string, Node>>;
      readonly items?: Node;
      readonly anyOf?: readonly Node[];
    }
    const undescribed = (node: Node, path: string): readonly string[] => [
      ...Object.entries(node.properties ?? {}).flatMap(([name, field]) => [
        ...(field.description === undefined ? [`${path}.${name}`] : []),
        ...undescribed(field, `${path}.${name}`),
      ]),
      ...[...(node.anyOf ?? []), ...(node.items ? [node.items] : [])].flatMap((one) => undescribed(one, path)),
    ];
    expect(undescribed(JSON.parse(configSchema()), "config")).toEqual([]);
  });
});
