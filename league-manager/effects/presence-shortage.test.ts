import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";

/** How many files the process may have open; it needs some forty itself. */
const FILES = 128;

test("a manager that lacks files to ask a player does not take it for one that has left", async () => {
  const port = await freePort();
  const script = fileURLToPath(new URL("../testing/file-shortage.ts", import.meta.url));
  const command = `ulimit -n ${FILES} && exec "${process.execPath}" "${script}" http://127.0.0.1:${port}/mcp`;
  const { stdout } = await promisify(execFile)("sh", ["-c", command]);
  expect(JSON.parse(stdout)).toEqual({ left: false });
});
