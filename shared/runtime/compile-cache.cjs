"use strict";
const { existsSync } = require("node:fs");
const { enableCompileCache } = require("node:module");
const { join } = require("node:path");

const root = join(__dirname, "..", "..");

// In a clone without the packages, npm runs its scripts with the Node of the system, which may be too old for them.
if (existsSync(join(root, "package-lock.json")) && !existsSync(join(root, "node_modules"))) {
  process.stderr.write(`${root} has no folder node_modules: enter npm ci, which installs Node 26 and all packages\n`);
  process.exit(3); // EXIT.config
}

const NODE_MAJOR = 26;
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR) {
  process.stderr.write(
    `agent-league needs Node ${NODE_MAJOR}, and this is Node ${process.versions.node}. Its package "node" contains the right one. If npm has not run the install script of that package, enter: npm install-scripts approve node\n`,
  );
  process.exit(3); // EXIT.config
}

/**
 * Keeps compiled code for the next start, of this process and of those that it starts: that spares each half of its own. For
 * `node --require` (package.json, "scripts"); not in TypeScript, because then it would have to be compiled first.
 */
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "agent-league");
enableCompileCache(process.env.NODE_COMPILE_CACHE);

require("./resolve-imports.cjs");
