import type { Plugin } from "esbuild";
import { expect, test } from "vitest";
import type { Limit } from "../lib/lazy.ts";
import { manualClock } from "../lib/testing/clock.ts";
import { type Esbuild, withEsbuild } from "./esbuild.ts";
import { esbuildProcesses } from "./testing/esbuild-processes.ts";

/** Builds a module that exports the text. */
const buildOf = (text: string): Promise<string> => withEsbuild((esbuild) => textOf(esbuild, text));

async function textOf({ build }: Esbuild, contents: string, plugins: Plugin[] = []): Promise<string> {
  const { outputFiles } = await build({ stdin: { contents }, plugins, bundle: true, write: false, logLevel: "silent" });
  return outputFiles[0]?.text ?? "";
}

/** Starts a build that waits for `release` when it has begun. */
function heldBuild(limit?: Limit) {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding: Plugin = {
    name: "holding",
    setup: ({ onStart }) =>
      onStart(async () => {
        begun.resolve();
        await released.promise;
      }),
  };
  const result = withEsbuild((esbuild) => textOf(esbuild, "console.log('held')", [holding]), limit);
  return { result, begun: begun.promise, release: () => released.resolve() };
}

const noProcess = () => expect.poll(esbuildProcesses).toEqual([]);

test("a build continues when another one ends, and the helper process ends with the last one", async () => {
  const held = heldBuild();
  await held.begun;
  const helper = esbuildProcesses();
  expect(await buildOf("console.log('short')")).toContain("short");
  expect([helper.length, esbuildProcesses()]).toEqual([1, helper]);
  held.release();
  expect(await held.result).toContain("held");
  await noProcess();
});

test("a build that fails does not end another build, and the helper process ends after it", async () => {
  const held = heldBuild();
  await held.begun;
  await expect(buildOf("export const = 1")).rejects.toMatchObject({ errors: [{ location: { line: 1 } }] });
  held.release();
  expect(await held.result).toContain("held");
  await expect(buildOf("export const = 1")).rejects.toThrow("Build failed");
  await noProcess();
});

test("a build that begins while the helper process is being ended has a result", async () => {
  for (let microtasks = 0; microtasks < 12; microtasks++) {
    const built = Promise.withResolvers<void>();
    const first = withEsbuild(async (esbuild) => {
      const text = await textOf(esbuild, "console.log('first')");
      built.resolve();
      return text;
    });
    await built.promise;
    for (let i = 0; i < microtasks; i++) await null;
    expect(await buildOf("console.log('second')")).toContain("second");
    expect(await first).toContain("first");
  }
  await noProcess();
});

test("a build that exceeds its limit is rejected, and the next one has another helper process", async () => {
  const clock = manualClock();
  const held = heldBuild({ limitMs: 5_000, clock });
  const outcome = Promise.allSettled([held.result]);
  await held.begun;
  const helper = esbuildProcesses();
  await clock.advance(5_000);
  const reason = new Error("esbuild: not ready within 5 s; the next use starts again");
  expect(await outcome).toEqual([{ status: "rejected", reason }]);
  const next = heldBuild();
  await next.begun;
  await expect.poll(() => esbuildProcesses().length).toBe(1);
  expect(esbuildProcesses()).not.toEqual(helper);
  next.release();
  expect(await next.result).toContain("held");
  await noProcess();
});

test("a build whose helper process is killed is rejected, and the next one has a result", async () => {
  const held = heldBuild();
  const outcome = Promise.allSettled([held.result]);
  await held.begun;
  const [helper = 0] = esbuildProcesses();
  process.kill(helper, "SIGKILL");
  expect(await outcome).toMatchObject([{ status: "rejected" }]);
  expect(await buildOf("console.log('next')")).toContain("next");
  await noProcess();
});
