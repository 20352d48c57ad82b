import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Runs the official MCP conformance suite against the three services in both revisions. Its report names the failed scenarios. */
it("every scenario that the suite requires passes", async () => {
  const script = fileURLToPath(new URL("conformance.ts", import.meta.url));
  const run = promisify(execFile)(process.execPath, [script]).catch((thrown: { stdout: string }) => thrown);
  const { stdout } = await run;
  expect(stdout.trim().split("\n").at(-1), stdout).toMatch(/^[1-9]\d* passed, 0 failed$/);
});
