import { expect, test } from "vitest";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { createFailures } from "./effects-context.ts";

test("a repeated rejection of an effect's command is logged as a warning once for each league", () => {
  const lines: string[] = [];
  const record = (level: string) => (fields: { league: string; error: { message: string } }) =>
    void lines.push(`${level} ${fields.league} ${fields.error.message}`);
  const log = { debug: record("debug"), warn: record("warn") } as unknown as Logger;
  const failures = createFailures(log, () => {});
  const expected = protocolError("G005", "R1M1 is completed");
  const repeated = protocolError("L005", "round 1 is not opened");
  const full = protocolError("G005", "referee REF01 has no free capacity", {}, true);
  for (const error of [expected, repeated, repeated, repeated, full, full]) failures.ofCommand("rps", error);
  failures.ofCommand("chess", repeated);
  failures.ofCommand("chess", repeated);
  expect(lines.filter((line) => line.startsWith("warn"))).toEqual([
    "warn rps round 1 is not opened",
    "warn chess round 1 is not opened",
  ]);
  expect(lines).toHaveLength(8);
});
