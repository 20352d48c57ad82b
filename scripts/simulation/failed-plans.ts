import type { Plan } from "./plan.ts";

/** The smallest plans of seeds that have failed, by the error of the program, which has been corrected. */
export const FAILED_PLANS: Readonly<Record<string, Plan>> = {
  "an invitation of an older epoch overtaken by that of a newer one": {
    ...{ seed: "7679", game: { id: "even_odd.v1", options: {} }, referees: 2, players: ["illegal", "well"] },
    disturbances: [
      { type: "lossy", at: 436, ms: 5_289, machine: "player 2", share: 0.4657720148097724 },
      { type: "crash", at: 689, machine: "player 2", downMs: 2_680 },
      { type: "slow", at: 985, ms: 4_516, machine: "player 2", delayMs: 1_757 },
      { type: "slow", at: 2_097, ms: 4_591, machine: "referee 1", delayMs: 1_374 },
    ],
    managers: 1,
    withoutSockets: ["manager", "referee 1", "referee 2", "player 1", "player 2"],
  },
};
