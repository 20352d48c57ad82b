import { expect, it } from "vitest";
import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import { planOf } from "../random-plan.ts";
import { faultsOfCapacity } from "./course.ts";

const PLAN = { ...planOf("1"), capacity: 1 };
const event = (type: string, match: number, more: object = {}): LeagueEvent =>
  ({ v: 1, at: "", type, match_id: `R1M${match}`, epoch: 1, referee_id: "REF01", ...more }) as unknown as LeagueEvent;

it.each([
  ["at the same time", [event("match_assigned", 1), event("match_assigned", 2)], 1],
  ["one after the other", [event("match_assigned", 1), event("match_completed", 1), event("match_assigned", 2)], 0],
  [
    "of which one was taken from it",
    [event("match_assigned", 1), event("match_released", 1, { reason: "unreachable" }), event("match_assigned", 2)],
    1,
  ],
  [
    "of which one was taken from it, with its knowledge",
    [
      event("match_assigned", 1),
      event("match_released", 1, { reason: "unreachable" }),
      event("withdrawal_settled", 1),
      event("match_assigned", 2),
    ],
    0,
  ],
  [
    "of which it has aborted one",
    [event("match_assigned", 1), event("match_released", 1, { reason: "aborted" }), event("match_assigned", 2)],
    0,
  ],
])("a referee for one match with two matches %s", (_, events, count) => {
  expect(faultsOfCapacity(PLAN, events)).toHaveLength(count);
  expect(faultsOfCapacity({ ...PLAN, capacity: 2 }, events)).toEqual([]);
});
