import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** The number of files that the process may open. Node opens about 40 files itself. */
const FILES = 128;

test("modules that could not be loaded without a free file are loaded at the next use", async () => {
  const script = fileURLToPath(new URL("../testing/lazy.ts", import.meta.url));
  const command = `ulimit -n ${FILES} && exec "${process.execPath}" "${script}"`;
  const { stdout } = await promisify(execFile)("sh", ["-c", command]);
  expect(JSON.parse(stdout)).toEqual({
    without: ["rejected", "rejected", "rejected"],
    later: ["fulfilled", "fulfilled", "fulfilled"],
  });
});
