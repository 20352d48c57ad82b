import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { cleanUp, newFolder, root } from "../../testing/processes.ts";

afterEach(cleanUp);

it("an npm script of a clone without its packages names the command that installs them", () => {
  const clone = newFolder();
  for (const file of ["package.json", "package-lock.json", ".npmrc", "shared/runtime/compile-cache.cjs"])
    cpSync(join(root, file), join(clone, file));
  const { status, stderr } = spawnSync("npm", ["run", "league", "--", "play"], { cwd: clone, encoding: "utf8" });
  expect(stderr).toBe(`${clone} has no folder node_modules: enter npm ci, which installs Node 26 and all packages\n`);
  expect(status).toBe(3);
});
