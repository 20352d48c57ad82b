import { expect, it } from "vitest";
import { isLongRun } from "#shared/lib/testing/long-run.ts";
import { runProgram } from "./commands.ts";

it("the program gives what the golden record has: `npm run golden -- compare` lists each difference", async () => {
  const sample = isLongRun ? [] : ["--sample"];
  const { stdout, stderr, code } = await runProgram("scripts/golden/golden.ts", ["compare", ...sample]);
  expect(code === 0 ? "" : `${stdout}${stderr}`).toBe("");
  expect(stdout).toMatch(/^no difference in \d+ files$/m);
});
