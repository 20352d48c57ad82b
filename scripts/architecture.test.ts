import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { configSchema, SCHEMA_FILE } from "./commands/config-schema.ts";
import { takenFromSystem, takesCapabilities, unusedExceptions } from "./testing/capabilities.ts";
import { impurities, mustBePure, PURE_FOLDERS } from "./testing/purity.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const ROOMS = ["shared", "league-manager", "referee", "player", "scripts"] as const;

/** Rooms in the order that imports may go: from a higher number to a lower one, or within one room. */
const FLOOR: Readonly<Record<string, number>> = {
  "shared/lib": 0,
  "shared/games": 1,
  "shared/session": 2,
  "shared/protocol": 2,
  "shared/store": 3,
  "shared/rpc": 3,
  "shared/runtime": 4,
  "shared/web": 4,
  "league-manager": 5,
  referee: 5,
  player: 5,
  scripts: 6,
};
/** Rooms on one floor that may lean on each other all the same, one way. */
const ALLOWED_SIDEWAYS = new Set<string>();

/** Libraries that only the named rooms may import. */
const KEEPERS: Readonly<Record<string, readonly string[]>> = {
  "json-rpc-2.0": ["shared/rpc"],
  undici: ["shared/rpc"],
  "chess.js": ["shared/games"],
  "eventsource-parser": ["shared/lib"],
  kysely: ["shared/store", "league-manager", "referee"],
  "node:sqlite": ["shared/store", "league-manager", "referee"],
  express: ["shared/runtime", "league-manager", "referee"],
  "prom-client": ["referee"],
  esbuild: ["shared/web"],
  preact: ["shared/web"],
  "@modelcontextprotocol/client": ["shared/rpc"],
  "@modelcontextprotocol/server": ["shared/rpc"],
  "@modelcontextprotocol/node": ["shared/rpc"],
  pino: ["shared/runtime"],
  commander: ["shared/runtime", "league-manager", "referee", "player", "scripts"],
};

interface Import {
  readonly file: string;
  readonly room: string;
  readonly to: string;
}

const sources = ROOMS.flatMap((room) => files(join(root, room))).filter((file) => /\.tsx?$/.test(file));
const isTest = (file: string): boolean =>
  /\.test\.ts$|\/testing\/|\/scripts\/(e2e|bench|conformance|simulation|examples)\//.test(file);
const imports: readonly Import[] = sources.filter((file) => !isTest(file)).flatMap(importsOf);
const testImports: readonly Import[] = sources.filter(isTest).flatMap(importsOf);

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
}

function roomOf(file: string): string {
  const [top = "", below = ""] = relative(root, file).split("/");
  return top === "shared" ? `shared/${below}` : top;
}

function importsOf(file: string): Import[] {
  const found = readFileSync(file, "utf8").matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^;"']*?from\s+["']([^"']+)["']|import\(["']([^"']+)["']\)/g,
  );
  return [...found].map((match) => ({
    file: relative(root, file),
    room: roomOf(file),
    to: match[1] ?? match[2] ?? "",
  }));
}

/** The path of the file that an import of our own leads to; null for libraries. */
function targetOf({ file, to }: Import): string | null {
  if (to.startsWith("#shared/")) return join(root, "shared", to.slice("#shared/".length));
  if (to.startsWith(".")) return resolve(root, dirname(file), to);
  return null;
}

/** The room that an import of our own leads to; null for libraries. */
function targetRoom(one: Import): string | null {
  const target = targetOf(one);
  return target === null ? null : roomOf(target);
}

/** Services whose folders must form no import cycle, besides those of shared. */
const FOLDED = ["league-manager", "referee", "player", "shared"];

/** The folder of a file, or the file itself if it stands directly in a service: those files put the service's folders together. */
function unitOf(file: string): string {
  const path = relative(root, file);
  return path.split("/").length === 2 ? path : dirname(path);
}

/** For each unit, the units that its files import, with one import as an example. Imports of types count. */
function unitImports(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const units = new Map<string, Map<string, string>>();
  for (const one of imports) {
    const target = targetOf(one);
    if (target === null || !FOLDED.some((top) => one.file.startsWith(`${top}/`))) continue;
    const [from, to] = [unitOf(join(root, one.file)), unitOf(target)];
    if (from !== to) units.set(from, (units.get(from) ?? new Map()).set(to, `${one.file} imports ${one.to}`));
  }
  return units;
}

/** The units that can be reached from a unit by imports. */
function reachedFrom(unit: string, units: ReturnType<typeof unitImports>, found = new Set<string>()): Set<string> {
  for (const next of units.get(unit)?.keys() ?? []) {
    if (found.has(next)) continue;
    found.add(next);
    reachedFrom(next, units, found);
  }
  return found;
}

describe("the structure of the repository", () => {
  it("imports point one way: scripts → services → rpc, store, runtime → protocol, session → games → lib", () => {
    const wrong = imports.filter((one) => {
      const target = targetRoom(one);
      if (target === null || target === one.room || target === "package.json") return false;
      const sideways = FLOOR[one.room] === FLOOR[target];
      return sideways
        ? !ALLOWED_SIDEWAYS.has(`${one.room} → ${target}`)
        : (FLOOR[one.room] ?? -1) < (FLOOR[target] ?? 99);
    });
    expect(wrong.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it("the folders of league-manager, referee, player and shared form no import cycle", () => {
    const units = unitImports();
    expect([...units.keys()]).toEqual(
      expect.arrayContaining(["league-manager/agents", "referee/play", "referee/codenames", "shared/web/client"]),
    );
    const cyclic = [...units].flatMap(([from, targets]) =>
      [...targets].flatMap(([to, example]) => (reachedFrom(to, units).has(from) ? [example] : [])),
    );
    expect(cyclic).toEqual([]);
  });

  it("a referee shows a game's state through referee/views alone", () => {
    const readers = sources.filter((file) => relative(root, file).startsWith("referee/") && !isTest(file));
    const showing = readers.filter((file) => /\.viewState\(/.test(readFileSync(file, "utf8")));
    const foreign = showing.map((file) => relative(root, file)).filter((file) => !file.startsWith("referee/views/"));
    expect(showing.length).toBeGreaterThan(0);
    expect(foreign).toEqual([]);
  });

  it("every source file stands in a room that the rule knows", () => {
    expect([...new Set(sources.map(roomOf))].filter((room) => FLOOR[room] === undefined)).toEqual([]);
  });

  it.each(Object.entries(KEEPERS))("%s is used in %s only", (library, rooms) => {
    const users = imports.filter(({ to }) => to === library || to.startsWith(`${library}/`));
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter(({ room }) => !rooms.includes(room)).map(({ file }) => file)).toEqual([]);
  });

  it("games, sessions, messages and the decisions of the manager depend on their arguments alone", () => {
    const pure = sources.map((file) => relative(root, file)).filter(mustBePure);
    expect(new Set(pure.map(dirname))).toEqual(new Set([...PURE_FOLDERS, "shared/games/chess", "shared/games/words"]));
    expect(pure.flatMap((path) => impurities(path, readFileSync(join(root, path), "utf8")))).toEqual([]);
  });

  it("time, randomness and the network are arguments: only their implementations take them from the system", () => {
    const paths = sources.map((file) => relative(root, file));
    const taken = paths
      .filter(takesCapabilities)
      .flatMap((path) => takenFromSystem(path, readFileSync(join(root, path), "utf8")));
    expect(taken).toEqual([]);
    expect(unusedExceptions(paths)).toEqual([]);
  });

  it("programs that take time from the system measure durations by its monotonic clock, not by its date", () => {
    const date = /\bDate\.now\b|\bnew Date\b(?!\s*\(\s*[^)\s])/;
    const outside = sources.filter((file) => !isTest(file) && !takesCapabilities(relative(root, file)));
    const readers = outside.filter((file) => date.test(readFileSync(file, "utf8")));
    expect(outside.length).toBeGreaterThan(0);
    expect(readers.map((file) => relative(root, file))).toEqual([]);
  });

  it("no file is longer than 300 lines, no folder deeper than two below the top", () => {
    const long = sources.filter((file) => readFileSync(file, "utf8").split("\n").length > 301);
    expect(long.map((file) => relative(root, file))).toEqual([]);
    expect(sources.filter((file) => relative(root, file).split("/").length > 4)).toEqual([]);
  });

  it("tests and their helpers import from their own service and from shared; those of scripts import from all", () => {
    const inServices = testImports.filter(({ room }) => room !== "scripts" && !room.startsWith("shared/"));
    const inShared = testImports.filter(({ room }) => room.startsWith("shared/"));
    const isOutside = (one: Import): boolean => {
      const target = targetRoom(one);
      return target !== null && ![one.room, "package.json"].includes(target) && !target.startsWith("shared/");
    };
    const isHelper = (one: Import): boolean => isTest(targetOf(one) ?? "");
    const wrong = [...inServices.filter(isOutside), ...inShared.filter((one) => isOutside(one) && isHelper(one))];
    expect(inServices.filter(isHelper).length).toBeGreaterThan(50);
    expect(wrong.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
  });

  it("no folder has more than 18 source files", () => {
    const counts = new Map<string, number>();
    for (const file of sources.filter((one) => !/\.(test|d)\.ts$/.test(one))) {
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    const crowded = [...counts].filter(([, count]) => count > 18);
    expect(crowded.map(([folder, count]) => `${relative(root, folder)}: ${count}`)).toEqual([]);
  });

  // Test files share their modules: the hooks of a helper would belong to the first file that loads it, and to no other.
  it("helpers of tests have no hooks of their own", () => {
    const helpers = sources.filter((file) => /\/testing\//.test(file));
    expect(helpers.length).toBeGreaterThan(10);
    const hooked = helpers.filter((file) => /^(before|after)(Each|All)\(/m.test(readFileSync(file, "utf8")));
    expect(hooked.map((file) => relative(root, file))).toEqual([]);
  });

  it("top-level folders are the fixed ones", () => {
    const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
    const folders = new Set(tracked.filter((file) => file.includes("/")).map((file) => file.split("/")[0]));
    expect([...folders].filter((name) => !["config", "docs", ...ROOMS, ".ci"].includes(name ?? ""))).toEqual([]);
  });
});

describe("generated files", () => {
  it("config/league.schema.json is what `npm run schema` writes", () => {
    expect(statSync(SCHEMA_FILE).isFile()).toBe(true);
    expect(readFileSync(SCHEMA_FILE, "utf8")).toBe(configSchema());
  });

  it("says what each field of a config is, for editors to show", () => {
    interface Node {
      readonly description?: string;
      readonly properties?: Readonly<Record<string, Node>>;
      readonly items?: Node;
      readonly anyOf?: readonly Node[];
    }
    const silent = (node: Node, path: string): readonly string[] => [
      ...Object.entries(node.properties ?? {}).flatMap(([name, field]) => [
        ...(field.description === undefined ? [`${path}.${name}`] : []),
        ...silent(field, `${path}.${name}`),
      ]),
      ...[...(node.anyOf ?? []), ...(node.items ? [node.items] : [])].flatMap((one) => silent(one, path)),
    ];
    expect(silent(JSON.parse(configSchema()), "config")).toEqual([]);
  });
});
