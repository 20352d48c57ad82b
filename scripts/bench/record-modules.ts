import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

/**
 * Preloaded into a process with `node --import`: when the process ends, writes the files that it has loaded as modules to a file of the folder that the
 * environment variable LEAGUE_BENCH_MODULES names.
 */

const folder = process.env.LEAGUE_BENCH_MODULES;

if (isMainThread && folder !== undefined) {
  const urls: string[] = [];
  registerHooks({
    load(url, context, nextLoad) {
      if (url.startsWith("file:")) urls.push(url);
      return nextLoad(url, context);
    },
  });
  process.on("exit", () => {
    const script = process.argv[1] ?? "";
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify({ script, urls }));
  });
}
