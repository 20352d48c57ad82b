import { expect, test } from "vitest";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { createFailures } from "./failures.ts";

test("a rejection of an effect's command that comes again is logged as a warning, once for each league", () => {
  const lines: string[] = [];
  const note = (level: string) => (about: { league: string; error: { message: string } }) =>
    void lines.push(`${level} ${about.league} ${about.error.message}`);
  const log = { debug: note("debug"), warn: note("warn") } as unknown as Logger;
  const failures = createFailures(log, () => {});
  const late = protocolError("G005", "R1M1 is completed");
  const stuck = protocolError("L005", "round 1 is not opened");
  for (const error of [late, stuck, stuck, stuck]) failures.ofCommand("rps", error);
  failures.ofCommand("chess", stuck);
  failures.ofCommand("chess", stuck);
  expect(lines.filter((line) => line.startsWith("warn"))).toEqual([
    "warn rps round 1 is not opened",
    "warn chess round 1 is not opened",
  ]);
  expect(lines).toHaveLength(6);
});
