import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const SOURCES = "{shared,league-manager,referee,player,scripts}/**/*.ts";
/** Tests, their helpers, and declarations without code. */
const NOT_PRODUCT = /\.(test|suite|d)\.ts$|(^|\/)testing\//;
const IMPORT = /\bfrom\s+"([^"]+)"|\bimport\("([^"]+)"\)/g;

/** Returns the product files that a pattern names. A path with lines, `FILE:FROM-TO`, stays as it is. */
export function productFiles(patterns: readonly string[], project: string): readonly string[] {
  const files = patterns.flatMap((pattern) => {
    const [, glob = pattern, lines = ""] = /^(.*?)(:[\d:-]+)?$/.exec(pattern) ?? [];
    const found = globSync([glob, `${glob}/**/*.ts`], { cwd: project }).map((file) => `${file}${lines}`);
    return found.filter((file) => /\.ts(:|$)/.test(file) && !NOT_PRODUCT.test(file.replace(/:.*$/, "")));
  });
  return [...new Set(files)].sort();
}

/** Returns patterns of the tests in the folders of some files. */
export const nearTests = (files: readonly string[]): readonly string[] => [
  ...new Set(files.map((file) => `${dirname(file)}/**/*.test.ts`)),
];

/** Returns the tests that import a file and are not in its folder. */
export function importingTests(file: string, project: string): readonly string[] {
  const tests = globSync(SOURCES, { cwd: project }).filter((path) => path.endsWith(".test.ts"));
  const isFar = (test: string): boolean => !test.startsWith(`${dirname(file)}/`);
  return tests.filter((test) => isFar(test) && importsOf(test, project).includes(file)).sort();
}

/** Returns the files of the project that a file imports, as paths from the project folder. */
function importsOf(file: string, project: string): readonly string[] {
  const source = readFileSync(join(project, file), "utf8");
  return [...source.matchAll(IMPORT)].flatMap(([, from, dynamic]) => {
    const specifier = from ?? dynamic ?? "";
    if (specifier.startsWith("#shared/")) return [join("shared", specifier.slice("#shared/".length))];
    return specifier.startsWith(".") ? [relative(project, join(project, dirname(file), specifier))] : [];
  });
}
