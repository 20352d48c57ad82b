/** Returns the ending of a module of this project: `.ts` in a clone, and `.js` in the package, because Node.js reads no TypeScript in node_modules. */
export const endingOf = (module: string): string => module.slice(module.lastIndexOf("."));

/** Returns the URL of a module of this project. `path` is that of its source, e.g. `./main.ts`, relative to the module with the URL `base`. */
export function moduleUrl(path: string, base: string): URL {
  const isPackage = endingOf(base) === ".js";
  return new URL(isPackage ? path.replace(/\.tsx?$/, ".js") : path, base);
}
