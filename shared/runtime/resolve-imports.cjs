"use strict";
const { registerHooks } = require("node:module");
const { join, sep } = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

const root = pathToFileURL(join(__dirname, "..", "..") + sep).href;
/** The folders of the program. Node resolves the imports of other files: those of a bot or a game may be CommonJS. */
const folders = ["league-manager", "player", "referee", "scripts", "shared"].map((name) => `${root}${name}/`);
/** zod has about 95 files. All of them are ES modules. */
const zod = `${root}node_modules/zod/`;
const SHARED = "#shared/";

/** Returns the URL of an import between files of the program, or between files of zod; null for all other imports. */
function fileOf(specifier, parent) {
  const isRelative = specifier.startsWith(".");
  if (parent.startsWith(zod)) return isRelative && specifier.endsWith(".js") ? new URL(specifier, parent).href : null;
  // The package that npm pack makes has JavaScript files, whose imports keep the names of the sources.
  if (!specifier.endsWith(".ts") || !parent.endsWith(".ts") || !folders.some((folder) => parent.startsWith(folder)))
    return null;
  if (specifier.startsWith(SHARED)) return `${root}shared/${specifier.slice(SHARED.length)}`;
  return isRelative ? new URL(specifier, parent).href : null;
}

/** The first importing file of each file, for the error about a file that does not exist. */
const importers = new Map();

/**
 * Returns the files that these imports name. Node would read package.json and look at each file first, which takes about a fifth of the CPU time of a start.
 * So an import of a file that does not exist fails when the file is read, with the error that Node has for it.
 */
registerHooks({
  resolve(specifier, context, nextResolve) {
    const parent = context.parentURL;
    const url = parent?.startsWith(root) ? fileOf(specifier, parent) : null;
    if (url === null) return nextResolve(specifier, context);
    if (!importers.has(url)) importers.set(url, parent);
    return { url, format: url.endsWith(".ts") ? "module-typescript" : "module", shortCircuit: true };
  },
  load(url, context, nextLoad) {
    try {
      return nextLoad(url, context);
    } catch (thrown) {
      const importer = importers.get(url);
      if (thrown.code !== "ENOENT" || importer === undefined) throw thrown;
      const message = `Cannot find module '${fileURLToPath(url)}' imported from ${fileURLToPath(importer)}`;
      throw Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND", url });
    }
  },
});
