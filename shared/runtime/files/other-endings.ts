import { registerHooks } from "node:module";

let isHooked = false;

/**
 * Lets the files of authors import `./helpers.ts` also as `./helpers.js`, which the type checker suggests, and as `./helpers`. Only an import that Node
 * cannot resolve is looked for under the other names.
 */
export function resolveOtherEndings(): void {
  if (isHooked) return;
  isHooked = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context);
      } catch (thrown) {
        for (const other of otherNames(specifier)) {
          try {
            return nextResolve(other, context);
          } catch {
            // The error names the import as the file has it.
          }
        }
        throw thrown;
      }
    },
  });
}

/** Returns the other names of a relative import, in the order in which esbuild looks for them. */
function otherNames(specifier: string): readonly string[] {
  if (!/^\.\.?\//.test(specifier)) return [];
  const [, stem, ending] = /^(.*\/[^/]*?)(\.[cm]?[jt]s)?$/.exec(specifier) ?? [];
  if (ending === undefined) return [`${stem}.ts`, `${stem}.js`];
  return ending.endsWith("js") ? [`${stem}${ending.replace("js", "ts")}`] : [];
}
