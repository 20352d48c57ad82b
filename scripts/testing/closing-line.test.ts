import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a suite of `files` test files of which one fails. Resolves with the last lines of the output, after the text of vitest. */
async function closingLines(suite: string, files: number, durations: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "suite-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (let file = 0; file < files; file++) {
    const body = file === 0 ? 'throw new Error("wrong");' : "";
    writeFileSync(
      join(folder, `file-${file}.test.ts`),
      `it("is right", () => {});\nit("may be wrong", () => {${body}});\n`,
    );
  }
  const reporters = ["default", [join(root, "scripts/testing/closing-line.ts"), { suite }]];
  const config = `export default ${JSON.stringify({ test: { globals: true, reporters } })};\n`;
  writeFileSync(join(folder, "vitest.config.mjs"), config);
  const { VITEST: _, ...inherited } = process.env;
  const env = { ...inherited, SUITE_DURATIONS: durations };
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, [vitest, "run"], { cwd: folder, env }, (_error, stdout) => resolve(stdout)),
  );
  const lines = output.trimEnd().split("\n");
  return lines.slice(lines.findIndex((line) => line.startsWith("Slowest files")));
}

it("the last lines of a test run are its slowest files, the durations of the suites so far, and its totals", async () => {
  const folder = mkdtempSync(join(tmpdir(), "durations-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const durations = join(folder, "durations");
  const first = await closingLines("suite one", 11, durations);
  const file = /^ +\d+\.\d s {2}file-\d+\.test\.ts$/;
  const one = expect.stringMatching(/^Duration of suite one: \d+\.\d s$/);
  expect(first).toEqual([
    "Slowest files of suite one:",
    ...Array(10).fill(expect.stringMatching(file)),
    one,
    "21 passed, 1 failed",
  ]);
  const second = await closingLines("suite two", 1, durations);
  const two = expect.stringMatching(/^Duration of suite two: \d+\.\d s$/);
  expect(second).toEqual(["Slowest files of suite two:", expect.stringMatching(file), one, two, "1 passed, 1 failed"]);
});
