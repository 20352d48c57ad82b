import { describe, expect, test } from "vitest";
import { Timeouts } from "./message-fields.ts";

// A copy of the specified table: operation, seconds, name of the setting.
const documented = [
  ["referee_register", 10, "referee_register_ms"],
  ["league_register", 10, "league_register_ms"],
  ["game_join_ack", 5, "join_ms"],
  ["choose_parity", 30, "move_ms"],
  ["game_over", 5, "game_over_ms"],
  ["match_result_report", 10, "match_result_report_ms"],
  ["default", 10, "default_ms"],
] as const;

describe("timeouts", () => {
  test.each(documented)("%s is %i seconds by default", (_, seconds, setting) => {
    expect(Timeouts.parse({})[setting]).toBe(seconds * 1_000);
    expect(Timeouts.parse(undefined)[setting]).toBe(seconds * 1_000);
  });

  const settings = Object.keys(Timeouts.parse({})) as (keyof Timeouts)[];

  test.each(settings)("%s can be configured without the others", (setting) => {
    expect(Timeouts.parse({ [setting]: 1_234 })).toEqual({ ...Timeouts.parse({}), [setting]: 1_234 });
  });

  test.each(settings)("%s is a whole number of milliseconds, at least 1 and at most a day", (setting) => {
    const isAccepted = (value: unknown) => Timeouts.safeParse({ [setting]: value }).success;
    expect([1, 86_400_000].map(isAccepted)).toEqual([true, true]);
    for (const value of [0, -1, 1.5, 86_400_001, Number.NaN, Number.POSITIVE_INFINITY, "5", null]) {
      expect(isAccepted(value), String(value)).toBe(false);
    }
  });

  test("include two settings that are not in the specification", () => {
    const known = new Set<string>(documented.map(([, , setting]) => setting));
    expect(settings.filter((setting) => !known.has(setting))).toEqual(["match_ms", "registration_ms"]);
  });

  test("reject an unknown setting", () => {
    expect(Timeouts.safeParse({ move: 1_000 }).success).toBe(false);
  });
});
