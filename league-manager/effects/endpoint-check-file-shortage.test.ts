import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";

/** The limit of open files of the process. About 40 are open at its start. */
const MAX_OPEN_FILES = 128;

test("a manager that cannot open a connection because of a shortage of files does not conclude that a player has left", async () => {
  const port = await freePort();
  const script = fileURLToPath(new URL("../testing/file-shortage.ts", import.meta.url));
  const command = `ulimit -n ${MAX_OPEN_FILES} && exec "${process.execPath}" "${script}" http://127.0.0.1:${port}/mcp`;
  const { stdout } = await promisify(execFile)("sh", ["-c", command]);
  expect(JSON.parse(stdout)).toEqual({ left: false });
});
