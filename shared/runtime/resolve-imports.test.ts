import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

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
    expect(hooked.length).toBeGreaterThan(200);
    expect(hooked).toEqual(plain);
  },
);

test("the error about a file that does not exist names the file that imports it", async () => {
  // The hook belongs to the program in whose folder shared/runtime it is.
  const program = realpathSync(mkdtempSync(join(tmpdir(), "program-")));
  onTestFinished(() => rmSync(program, { recursive: true }));
  const hook = join(program, "shared/runtime/resolve-imports.cjs");
  cpSync(fileOf("resolve-imports.cjs"), hook);
  const [main, lib] = ["main.ts", "lib.ts"].map((name) => join(program, "shared", name)) as [string, string];
  writeFileSync(main, 'import "#shared/lib.ts";');
  writeFileSync(lib, 'import "./missing.ts";');
  const { stderr } = await promisify(execFile)(process.execPath, ["--require", hook, main]).then(
    () => expect.fail("the program starts without the file"),
    (thrown) => thrown as { readonly stderr: string },
  );
  expect(stderr).toContain(`Error: Cannot find module '${join(program, "shared/missing.ts")}' imported from ${lib}`);
  expect(stderr).toContain("code: 'ERR_MODULE_NOT_FOUND'");
  expect(stderr).toContain(`at load (${hook}:`); // the hook has resolved the import, not Node
});
