"use strict";
const { enableCompileCache } = require("node:module");
const { join } = require("node:path");

/**
 * Keeps compiled code for the next start, of this process and of those that it starts: that spares each half of its own. For
 * `node --require` (package.json, "scripts"); not in TypeScript, because then it would have to be compiled first.
 */
process.env.NODE_COMPILE_CACHE ??= join(__dirname, "..", "..", "node_modules", ".cache", "agent-league");
enableCompileCache(process.env.NODE_COMPILE_CACHE);
