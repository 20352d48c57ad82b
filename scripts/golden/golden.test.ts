import { expect, it } from "vitest";
import { runProgram } from "./interfaces/commands.ts";

/** The comparison takes one or two minutes, and other tests run at the same time. */
const TIMEOUT_MS = 900_000;

it(
  "the program gives what the golden record has: `npm run golden -- compare` lists each difference",
  async () => {
    const { stdout, stderr, code } = await runProgram("scripts/golden/golden.ts", ["compare"]);
    expect(code === 0 ? "" : `${stdout}${stderr}`).toBe("");
    expect(stdout).toMatch(/^no difference in \d+ files$/m);
  },
  TIMEOUT_MS,
);
