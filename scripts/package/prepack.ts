import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MANIFEST, ROOT, restoreManifest, SAVED_MANIFEST } from "./postpack.ts";

/** The fields of package.json that differ in the package. */
interface Manifest {
  readonly [field: string]: unknown;
}

/** Fields for the development of this project only. */
const DEVELOPMENT = ["private", "scripts", "devDependencies", "imports", "allowScripts"];

/** Returns the package.json of the package. Its programs are the JavaScript in `dist`. */
function packageManifest(source: Manifest): Manifest {
  const kept = Object.entries(source).filter(([field]) => !DEVELOPMENT.includes(field));
  return { ...Object.fromEntries(kept), bin: { league: "dist/scripts/league.js" }, exports: exportsIn("./dist/") };
}

/** Returns the package.json of the folder `dist`, which resolves the imports of the modules in it. */
const distManifest = ({ name, version, type }: Manifest): Manifest => ({
  name,
  version,
  type,
  imports: { "#shared/*.ts": { types: "./shared/*.d.ts", default: "./shared/*.js" } },
  exports: exportsIn("./"),
});

/** Returns the modules that bots and games import, as JavaScript in a folder. */
const exportsIn = (folder: string): object => ({
  ".": moduleIn(`${folder}player/sdk`),
  "./game": moduleIn(`${folder}shared/games/author`),
});

const moduleIn = (path: string): object => ({ types: `${path}.d.ts`, default: `${path}.js` });

/**
 * Prepares `npm pack`: writes the JavaScript and the declarations of this project to `dist`, because Node.js reads no TypeScript in
 * node_modules, and replaces package.json by that of the package. postpack.ts restores it.
 */

const DIST = join(ROOT, "dist");
const COMPILER = join(fileURLToPath(import.meta.resolve("typescript/package.json")), "../bin/tsc");

/** Files that the programs read besides their modules. */
const ASSETS = ["config", "scripts/starters"];
const ASSET_ENDINGS = [".css", ".cjs"];

restoreManifest(); // an earlier `npm pack` may have been interrupted
rmSync(DIST, { recursive: true, force: true });
for (const project of ["tsconfig.json", "tsconfig.web.json"]) {
  execFileSync(process.execPath, [COMPILER, "-p", join(import.meta.dirname, project)], { stdio: "inherit" });
}
for (const path of ASSETS) cpSync(join(ROOT, path), join(DIST, path), { recursive: true });
cpSync(join(ROOT, "shared"), join(DIST, "shared"), {
  recursive: true,
  filter: (path) => extname(path) === "" || ASSET_ENDINGS.includes(extname(path)),
});
const source = readFileSync(MANIFEST, "utf8");
const manifest = JSON.parse(source);
const write = (file: string, value: unknown): void => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
write(join(DIST, "package.json"), distManifest(manifest));
writeFileSync(SAVED_MANIFEST, source);
write(MANIFEST, packageManifest(manifest));
if (!existsSync(join(DIST, "scripts", "league.js"))) throw new Error("the compiler has written no scripts/league.js");
