import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { root } from "./testing/processes.ts";

/** The proofs of which the other suites play a sample: each is a script of package.json, with the numbers of a complete proof. */
const PROOFS: readonly (readonly [script: string, ...args: string[]])[] = [
  ["simulate", "--seeds", "10000"],
  ["simulate:mutations"],
  ["golden", "prove"],
  ["chaos", "--kills", "300"],
  ["cluster", "--no-compare"],
];

it.each(PROOFS)("npm run %s ends without a fault", async (script, ...args) => {
  const child = spawn("npm", ["run", "--silent", script, "--", ...args], { cwd: root, stdio: "pipe" });
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  expect(code, (await outputs).join("\n")).toBe(0);
});
