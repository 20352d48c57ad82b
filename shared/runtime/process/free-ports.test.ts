import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { freePorts } from "./free-ports.ts";

const running: ChildProcess[] = [];
afterEach(async () => {
  const ended = running.map((child) => once(child, "exit"));
  for (const child of running.splice(0)) child.kill("SIGKILL");
  await Promise.all(ended);
});

/** Starts a process that reserves `count` ports and stays alive. Returns the first port. */
async function firstPortOfProcess(count: number): Promise<number> {
  const code = `
    const { freePorts } = await import(${JSON.stringify(new URL("free-ports.ts", import.meta.url).href)});
    console.log((await freePorts(${count}))[0]);
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: fileURLToPath(new URL("../../..", import.meta.url)),
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  const [line] = (await once(createInterface(child.stdout as NodeJS.ReadableStream), "line")) as [string];
  return Number(line);
}

it("reserves different ports for processes that run at the same time", async () => {
  const count = 400;
  const firsts = (await Promise.all(Array.from({ length: 6 }, () => firstPortOfProcess(count)))).toSorted(
    (a, b) => a - b,
  );
  expect(firsts.slice(1).every((first, index) => first - (firsts[index] ?? 0) >= count)).toBe(true);
});

it("rejects if too few ports are free", async () => {
  await expect(freePorts(13_000)).rejects.toThrow("no 13000 consecutive free ports between 20000 and 32000");
  expect(await freePorts(2)).toHaveLength(2);
});

it("returns different ports to concurrent calls and skips ports that are in use", async () => {
  const results = await Promise.all(Array.from({ length: 20 }, () => freePorts(5)));
  const ports = results.flat();
  expect(new Set(ports).size).toBe(100);
  const busy = await Promise.all(
    ports.slice(0, 3).map(async (port) => {
      const server = createServer().listen(port, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const again = (await Promise.all(Array.from({ length: 40 }, () => freePorts(5)))).flat();
  expect(again.filter((port) => ports.slice(0, 3).includes(port))).toEqual([]);
  for (const server of busy) server.close();
});

it("reserves further blocks if too many ports of its blocks are in use", async () => {
  const [port = 0] = await freePorts(1);
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  const block = await freePorts(200);
  expect(block).toHaveLength(200);
  expect(block).not.toContain(port);
  server.close();
});
