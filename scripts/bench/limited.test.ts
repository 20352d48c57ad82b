import { join } from "node:path";
import { expect, test } from "vitest";
import { takeLimited } from "./limited.ts";

const SCRIPT = join(import.meta.dirname, "testing", "measurement.ts");
const LONG_MS = 600_000;

test("a measurement that hangs ends at its limit and names its last step", async () => {
  expect(await takeLimited(SCRIPT, ["hangs"], 3_000, () => {})).toEqual({
    ok: false,
    fault: expect.stringMatching(/^no figures within 3 s/),
  });
});

test("a measurement whose process crashes is a fault", async () => {
  const steps: string[] = [];
  expect(await takeLimited(SCRIPT, ["crashes"], LONG_MS, (step) => steps.push(step))).toEqual({
    ok: false,
    fault: "its process has ended (code 1)",
  });
});

test("a measurement reports its steps and its figures", async () => {
  const steps: string[] = [];
  expect(await takeLimited(SCRIPT, ["takes"], LONG_MS, (step) => steps.push(step))).toEqual({
    ok: true,
    figures: { perSecond: 7 },
  });
  expect(steps).toEqual(["the first step"]);
});
