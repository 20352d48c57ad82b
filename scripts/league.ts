#!/usr/bin/env node
import { createRequire } from "node:module";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { addCommands, program } from "./command-line.ts";

// MCP hosts start this file directly, without the --require of the npm scripts. Each command loads its modules after this.
createRequire(import.meta.url)("../shared/runtime/compile-cache.cjs");

// A reader may close the output early, e.g. `league run --json | head`. This is not an error.
for (const output of [process.stdout, process.stderr]) {
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

addCommands();
if (process.argv.length <= 2) {
  program.outputHelp();
  process.exit(EXIT.usage);
}
await program.parseAsync();
