import type { DialectProgram } from "./dialect-programs.ts";
import { DISTURBANCES_MS, type Disturbance } from "./disturbance.ts";
import { MANAGER, playerName, refereeName } from "./machines/names.ts";
import type { PlanKind } from "./plan.ts";

/** A referee that misses ten probes loses its matches. */
const [MIN_CUT_MS, MAX_CUT_MS] = [14_500, 17_000];
/** Copies of messages from before the cut arrive after it. */
const MAX_COPY_MS = 30_000;
/** The time of a match whose result a player acknowledges too late: shorter than the time for the acknowledgement, 5 s. */
const SHORT_MATCH_MS = 4_000;
/** The player is back after the second attempt at the match has taken too long, too, and in time for the third and last one. */
const [MIN_DOWN_MS, MAX_DOWN_MS] = [8_300, 8_800];

/**
 * A slow match moves to another referee, because its referee cannot be reached. Messages of the first attempt arrive again during the second one, also
 * START_GAME after MATCH_WITHDRAWN.
 */
const toOtherReferee: PlanKind = ({ random, plan }) => {
  const { capacity: _, ...rest } = plan;
  const referees = Math.max(2, plan.referees);
  const players = plan.players.map((behaviour, n) => (n === 0 ? "slow" : behaviour === "slow" ? "well" : behaviour));
  const at = random.int(3_000, DISTURBANCES_MS);
  const machines = [
    ...Array.from({ length: referees }, (_, n) => refereeName(n)),
    ...players.map((_, n) => playerName(n)),
  ];
  const cut = refereeName(random.int(0, referees - 1));
  const disturbances: readonly Disturbance[] = [
    ...machines.map(
      (machine): Disturbance => ({
        ...{ type: "late copies", at: 0, ms: at + MAX_CUT_MS, machine },
        ...{ share: 0.5, delayMs: MAX_COPY_MS },
      }),
    ),
    { type: "partition", at, ms: random.int(MIN_CUT_MS, MAX_CUT_MS), between: [cut, MANAGER], isSilent: false },
  ];
  return {
    ...{ ...rest, referees, players, disturbances },
    ...{ managers: 1, withoutSockets: [MANAGER, ...machines] },
  };
};

/**
 * A player of a dialect does not acknowledge the result of a match, so that its referee is still waiting when the time of the match is over. The referee
 * gets the match again, and once more.
 */
const toSameReferee: PlanKind = ({ random, plan }) => {
  const program = random.pick<DialectProgram>(["handle message", "league.v1"]);
  const message = program === "league.v1" ? "GAME_END" : "GAME_OVER";
  const downMs = random.int(MIN_DOWN_MS, MAX_DOWN_MS);
  return {
    ...{ seed: plan.seed, game: plan.game, referees: 1, players: ["well", "well"], contacts: [program] },
    ...{ managers: 1, withoutSockets: plan.withoutSockets, matchMs: SHORT_MATCH_MS },
    disturbances: [{ type: "crash at message", at: 0, machine: playerName(0), message, count: 1, afterMs: 0, downMs }],
  };
};

/** The kinds of plans in which a match moves to another referee, or comes back to the same referee. */
export const MOVED_MATCH_KINDS: readonly PlanKind[] = [toOtherReferee, toOtherReferee, toSameReferee];
