/** The fields of package.json that differ in the package. */
interface Manifest {
  readonly [field: string]: unknown;
}

/** Fields for the development of this project only. */
const DEVELOPMENT = ["private", "scripts", "devDependencies", "imports", "allowScripts"];

/** Returns the package.json of the package. Its programs are the JavaScript in `dist`. */
export function packageManifest(source: Manifest): Manifest {
  const kept = Object.entries(source).filter(([field]) => !DEVELOPMENT.includes(field));
  return { ...Object.fromEntries(kept), bin: { league: "dist/scripts/league.js" }, exports: exportsIn("./dist/") };
}

/** Returns the package.json of the folder `dist`, which resolves the imports of the modules in it. */
export const distManifest = ({ name, version, type }: Manifest): Manifest => ({
  ...{ name, version, type },
  imports: { "#shared/*.ts": { types: "./shared/*.d.ts", default: "./shared/*.js" } },
  exports: exportsIn("./"),
});

/** Returns the modules that bots and games import, as JavaScript in a folder. */
const exportsIn = (folder: string): object => ({
  ".": moduleIn(`${folder}player/sdk`),
  "./game": moduleIn(`${folder}shared/games/author`),
});

const moduleIn = (path: string): object => ({ types: `${path}.d.ts`, default: `${path}.js` });
