import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("modules that could not be loaded without a free file are loaded at the next use", async () => {
  const script = fileURLToPath(new URL("../testing/lazy.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(JSON.parse(stdout)).toEqual({
    without: ["rejected", "rejected", "rejected"],
    later: ["fulfilled", "fulfilled", "fulfilled"],
  });
});
