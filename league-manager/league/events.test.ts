import { expect, test } from "vitest";
import { parseLeagueEvent } from "./events.ts";
import { stored } from "./testing/leagues.ts";

test.each(["match_released", "match_aborted"] as const)("the reason of %s has at most 2,000 characters", (type) => {
  const bodyOf = (text: string): string => {
    const common = { match_id: "R1M1", epoch: 1, referee_id: "REF01" };
    const event =
      type === "match_released"
        ? ({ type, ...common, reason: "aborted", detail: text } as const)
        : ({ type, ...common, reason: text, log_head: "" } as const);
    return JSON.stringify(stored(event));
  };
  expect(parseLeagueEvent(bodyOf("x".repeat(2_000)))).toMatchObject({ type });
  expect(() => parseLeagueEvent(bodyOf("x".repeat(2_001)))).toThrow("2000");
});
