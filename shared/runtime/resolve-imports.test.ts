import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ROOT = fileOf("../../");

/** Records the URLs of all modules that a process loads, and prints them as JSON at its end. */
const RECORDER = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({ load(url, context, nextLoad) {
    if (url.startsWith("file:") && !url.endsWith(".cjs")) urls.push(url);
    return nextLoad(url, context);
  } });
  process.on("exit", () => process.stderr.write(JSON.stringify(urls)));
`)}`;

/** Returns the modules that the help of a program loads, in their order. */
async function modulesOf(script: string, nodeArgs: readonly string[]): Promise<readonly string[]> {
  const args = [...nodeArgs, "--import", RECORDER, fileOf(`../../${script}`), "--help"];
  const env = { ...process.env, NODE_COMPILE_CACHE: `${ROOT}node_modules/.cache/agent-league` };
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
  return JSON.parse(stderr);
}

test.each(["league-manager/main.ts", "referee/main.ts", "player/main.ts"])(
  "%s loads the files that Node resolves without the preloaded hook",
  async (script) => {
    const [hooked, plain] = await Promise.all([
      modulesOf(script, ["--require", fileOf("resolve-imports.cjs")]),
      modulesOf(script, []),
    ]);
    expect(hooked.length).toBeGreaterThan(300);
    expect(hooked).toEqual(plain);
  },
);
