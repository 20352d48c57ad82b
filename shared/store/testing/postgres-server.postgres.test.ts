import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { execute, sharedPostgres } from "./postgres-server.ts";

const PROGRAM = `
import { execute, startPostgres } from ${JSON.stringify(new URL("./postgres-server.ts", import.meta.url).href)};
const { url } = await startPostgres();
const [{ data, pid }] = await execute(url, \`SELECT current_setting('data_directory') AS data,
  split_part(pg_read_file('postmaster.pid'), E'\\\\n', 1) AS pid\`);
process.stdout.write(JSON.stringify({ data, pid }));
setInterval(() => {}, 1_000);
`;

test("the server ends and its files are removed when the process of the tests is killed", async () => {
  const tests = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output] = await once(tests.stdout, "data");
  const { data, pid } = JSON.parse(String(output));
  expect([existsSync(data), existsSync(`/proc/${pid}`)]).toEqual([true, true]);
  tests.kill("SIGKILL");
  await expect.poll(() => [existsSync(data), existsSync(`/proc/${pid}`)]).toEqual([false, false]);
});

test("a database can be a copy of another one", async () => {
  const server = await sharedPostgres();
  const original = await server.createDatabase();
  await execute(original, "CREATE TABLE t AS SELECT 7 AS n");
  expect(await execute(await server.createDatabase(original), "SELECT n FROM t")).toEqual([{ n: 7 }]);
});
