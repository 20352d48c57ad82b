import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { CpuMeter } from "./cpu-meter.ts";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Node.js code that uses a processor for 300 ms. */
const BUSY =
  "const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end) for (let turn = 0; turn < 1e6; turn++);";
const HALF_BUSY_US = 150_000;

/** Starts a process that executes code and then waits. Resolves when it waits. */
async function run(code: string): Promise<ChildProcess> {
  const waiting = `${code}; process.send("waits"); setInterval(() => {}, 10_000);`;
  const child = spawn(process.execPath, ["-e", waiting], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  children.push(child);
  await once(child, "message");
  return child;
}
const meterOf = (child: () => ChildProcess): CpuMeter =>
  new CpuMeter([{ name: "group", roots: () => [child().pid ?? 0] }]);

describe("a meter of processor time", () => {
  it("counts a process and the processes that it has started, running and ended", async () => {
    const inChild = `require("node:child_process").execFileSync(process.execPath, ["-e", ${JSON.stringify(BUSY)}])`;
    const alone = await run(BUSY);
    const parent = await run(`${inChild}; ${inChild}`);
    expect(meterOf(() => alone).totals().group).toBeGreaterThan(HALF_BUSY_US);
    expect(meterOf(() => parent).totals().group).toBeGreaterThan(4 * HALF_BUSY_US - 100_000);
  });

  it("keeps the time of a process that was killed after a sample", async () => {
    let current = await run(BUSY);
    const meter = meterOf(() => current);
    const { group: before = 0 } = meter.totals();
    const ended = once(current, "exit");
    current.kill("SIGKILL");
    await ended;
    current = await run("");
    const { group: after = 0 } = meter.totals();
    expect(before).toBeGreaterThan(HALF_BUSY_US);
    expect(after).toBeGreaterThanOrEqual(before);
  });
});
