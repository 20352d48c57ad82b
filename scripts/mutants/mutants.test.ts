import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Mutant } from "./stryker.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "league-mutants-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FEE = `export function fee(hours: number, isMember: boolean): number {
  if (hours < 1) {
    return 0;
  }
  return Math.min(hours * 2, 10) - (isMember ? 1 : 0);
}
`;

/** Writes a project with one source file, a test beside it and a test elsewhere that imports it. */
function writeProject(): void {
  const testOf = (path: string, check: string): string =>
    `import { expect, test } from "vitest";\nimport { fee } from "${path}";\n\ntest("fee", () => {\n  ${check}\n});\n`;
  const files = {
    "package.json": JSON.stringify({ type: "module" }),
    "shared/fee/fee.ts": FEE,
    "shared/fee/fee.test.ts": testOf("./fee.ts", "expect([fee(0, false), fee(1, false)]).toEqual([0, 2]);"),
    "scripts/members.test.ts": testOf("../shared/fee/fee.ts", "expect(fee(1, true)).toBe(1);"),
    "scripts/other.test.ts": `import { test } from "vitest";\n\ntest("fails", () => {\n  throw new Error();\n});\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  // Stryker finds only a real folder node_modules.
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"));
}

test("each operator is changed, and a change survives only if no test that imports the file fails", async () => {
  writeProject();
  const json = join(folder, "mutants.json");
  const program = join(import.meta.dirname, "mutants.ts");
  const args = [program, "--files", "shared", "--workers", "1", "--json", json];
  const { code, out } = await new Promise<{ code: unknown; out: string }>((resolve) =>
    execFile(process.execPath, args, { cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, out: stdout + stderr }),
    ),
  );
  expect(out).toContain("shared/fee/fee.ts:2:7\n  - hours < 1\n  + false\n");
  const mutants: readonly Mutant[] = JSON.parse(readFileSync(json, "utf8"));
  const changes = (outcome: Mutant["outcome"]): readonly string[] =>
    mutants.filter((one) => one.outcome === outcome).map((one) => `${one.original} -> ${one.replacement}`);
  expect(changes("survived").toSorted()).toEqual(["hours < 1 -> false", "{ return 0; } -> {}"]);
  expect(changes("killed")).toEqual(
    expect.arrayContaining([
      "hours < 1 -> true",
      "hours < 1 -> hours <= 1",
      "hours < 1 -> hours >= 1",
      "Math.min(hours * 2, 10) -> Math.max(hours * 2, 10)",
      "hours * 2 -> hours / 2",
      "Math.min(hours * 2, 10) - (isMember ? 1 : 0) -> Math.min(hours * 2, 10) + (isMember ? 1 : 0)",
    ]),
  );
  expect(out).toContain(`${mutants.length} changes: ${mutants.length - 2} found, 0 equivalent, 2 not found`);
  expect(code).toBe(1);
  expect(readFileSync(join(folder, "shared/fee/fee.ts"), "utf8")).toBe(FEE);
});
