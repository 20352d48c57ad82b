import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";

test("a manager that cannot open a connection because of a shortage of files does not conclude that a player has left", async () => {
  const port = await freePort();
  const script = fileURLToPath(new URL("../testing/file-shortage.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, `http://127.0.0.1:${port}/mcp`]);
  expect(JSON.parse(stdout)).toEqual({ left: false });
});
