import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Files that the process may have open: some forty are its own. */
const FILES = 128;

test("what could not be loaded for want of files is loaded when there are some again", async () => {
  const script = fileURLToPath(new URL("../testing/lazy.ts", import.meta.url));
  const command = `ulimit -n ${FILES} && exec "${process.execPath}" "${script}"`;
  const { stdout } = await promisify(execFile)("sh", ["-c", command]);
  expect(JSON.parse(stdout)).toEqual({ without: ["rejected", "rejected"], later: ["fulfilled", "fulfilled"] });
});
