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
  "an answer in a poll that another manager took while the inbox moved": {
    seed: "157",
    game: { id: "tic_tac_toe.v1", options: {} },
    referees: 2,
    players: ["well", "well", "well", "well", "well"],
    managers: 3,
    disturbances: [
      { type: "crash at commit", at: 1853, machine: "manager 3", downMs: 4878, isCommitted: true },
      { type: "crash at commit", at: 2047, machine: "manager 2", downMs: 5710, isCommitted: true },
      { type: "stop", at: 2250, ms: 4556, machine: "manager" },
    ],
    withoutSockets: ["manager"],
    clock: { initial_ms: 37707, increment_ms: 4549 },
    format: { id: "match", options: { games: 2 } },
    capacity: 2,
    contacts: ["inbox", "inbox", "inbox", "inbox", "endpoint"],
    lateMs: [0, 0, 0, 0, 5356],
    lateEntry: "forfeit",
  },
  "a number that an inbox uses again after it was at another manager": {
    seed: "1258",
    game: { id: "even_odd.v1", options: {} },
    referees: 2,
    players: ["well", "well", "well", "well", "well"],
    managers: 2,
    disturbances: [{ type: "crash", at: 1295, machine: "manager", downMs: 826 }],
    withoutSockets: ["referee 1"],
    capacity: 1,
    isStartedByOperator: true,
    calls: [{ operator: 1, tool: "start_league", at: 1026, after: "begin", isEnvelope: false, isForged: false }],
    contacts: ["inbox", "endpoint", "inbox", "endpoint", "inbox"],
  },
  "a referee that asks a player again after it has aborted the match": {
    seed: "1050",
    game: { id: "even_odd.v1", options: {} },
    referees: 2,
    players: ["well", "well", "well", "well", "well"],
    managers: 1,
    disturbances: [
      { type: "slow", at: 1095, ms: 6159, machine: "player 2", delayMs: 1736 },
      { type: "lossy", at: 2025, ms: 5463, machine: "player 2", share: 0.17333049280568957 },
      { type: "disk full", at: 3014, ms: 2213, machine: "referee 2" },
      { type: "slow", at: 3496, ms: 3484, machine: "player 3", delayMs: 216 },
    ],
    withoutSockets: ["referee 2", "player 4"],
    calls: [
      {
        operator: 1,
        tool: "reset_token",
        at: 1344,
        after: "begin",
        isEnvelope: false,
        isForged: false,
        players: ["P4"],
        handOverMs: 598,
      },
    ],
  },
};
