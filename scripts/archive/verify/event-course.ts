import { isDeepStrictEqual } from "node:util";
import { findFormat } from "#shared/formats/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { decideLeague, MAX_ABORTS } from "../../../league-manager/league/decide.ts";
import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import { matchOf } from "../../../league-manager/league/evolve.ts";
import { opensAtOnce } from "../../../league-manager/league/format-view.ts";
import {
  endOfRound,
  type League,
  type LeagueCommand,
  type NewLeagueEvent,
} from "../../../league-manager/league/league.ts";
import type { Findings } from "./source.ts";

type EventOf<T extends LeagueEvent["type"]> = Extract<LeagueEvent, { type: T }>;

/** The check of a league's events. It receives the events one by one, so that the states between them need no memory. */
interface CourseCheck {
  /** Checks the next event. `before` is the state of the league before it. */
  step(before: League | null, event: LeagueEvent): void;
  /** Blames the required events that are missing at the end of the log. */
  end(): void;
}

/** An event that the rules require, and what it follows from: the type of an event, or the results before it. */
interface Expected {
  readonly event: NewLeagueEvent;
  readonly cause: string;
}

/**
 * Checks that the pairings, forfeits and final aborts of a league are those that its format and rules require. The fold of the log checks only
 * that each event may follow the events before it. `seed` is the seed of the league; null before the league is completed. Pairings that depend on
 * the seed are then not checked.
 */
export function checkCourse(findings: Findings, file: string, seed: string | null): CourseCheck {
  const pairings = checkPairings(findings, file, seed);
  /** The required events by their index in the log. */
  const expected = new Map<number, Expected[]>();
  let count = 0;
  const blameMissing = (index: number, { event, cause }: Expected): void =>
    findings.blame(file, `event ${index} is not the ${event.type} that the league's rules require after ${cause}`);
  return {
    step(before, event) {
      const index = count++;
      const isFollowing = fulfilledBy(event, expected.get(index) ?? [])[0]?.length !== 0;
      const decided = isFollowing ? [] : [...decidedWith(before, event), ...pairings.decidedWith(before, event, index)];
      for (const [offset, following] of decided.entries()) {
        const earlier = expected.get(index + offset) ?? [];
        expected.set(index + offset, [...earlier, { event: following, cause: causeOf(event) }]);
      }
      const [fulfilled = [], missing = []] = fulfilledBy(event, expected.get(index) ?? []);
      expected.delete(index);
      for (const item of missing) blameMissing(index, item);
      checkEvent(findings, file, { index, before, event, isExplained: fulfilled.length > 0 });
    },
    end() {
      for (const [index, missing] of expected) for (const item of missing) blameMissing(index, item);
      pairings.end();
    },
  };
}

const causeOf = ({ type }: LeagueEvent): string => (type === "round_paired" ? "the earlier results" : type);

/** Divides the required events into those that this event fulfils and those that it does not. */
function fulfilledBy(event: LeagueEvent, expected: readonly Expected[]): readonly (readonly Expected[])[] {
  const isFulfilled = (item: Expected): boolean => isDeepStrictEqual(decidable(event), decidable(item.event));
  return [expected.filter(isFulfilled), expected.filter((item) => !isFulfilled(item))];
}

interface Step {
  readonly index: number;
  readonly before: League | null;
  readonly event: LeagueEvent;
  /** Whether the event follows from an earlier decision. */
  readonly isExplained: boolean;
}

function checkEvent({ blame, except }: Findings, file: string, { index, before, event, isExplained }: Step): void {
  // The manager completes a league after the announcements of all its rounds.
  for (const roundId of event.type === "completed" && before ? unannouncedIn(before) : [])
    blame(file, `event ${index}: the league is completed before round ${roundId} is announced`);
  if (event.type === "match_cancelled" && !isExplained)
    blame(
      file,
      `event ${index}: ${event.match_id} is cancelled, but neither the league nor the time of its round has ended`,
    );
  if (event.type === "match_completed" && event.referee_id === null && !isExplained)
    blame(
      file,
      `event ${index}: ${event.match_id} is forfeited, but its players were not shut down when its round was opened`,
    );
  if (event.type === "match_aborted" && before && !isFinalAbort(before, event))
    blame(
      file,
      `event ${index}: the abort of ${event.match_id} is final, but it was not aborted ${MAX_ABORTS - 1} times before`,
    );
  if (event.type === "match_released" && before && isAbort(event) && isFinalAbort(before, event))
    blame(file, `event ${index}: ${event.match_id} is released as ${event.reason}, but this abort must be final`);
  if (before) checkOperation({ blame, except }, file, index, before, event);
}

/** Reports what the operator has changed in a running league, and blames changes that the rules do not allow. */
function checkOperation(
  { blame, except }: Pick<Findings, "blame" | "except">,
  file: string,
  index: number,
  before: League,
  event: LeagueEvent,
): void {
  const isRejected = (command: LeagueCommand): boolean => eventsOf(decideLeague(before, command)).length === 0;
  const name = "match_id" in event ? matchRef(before.leagueId, event.match_id) : before.leagueId;
  switch (event.type) {
    case "match_scheduled":
      except(file, `${name} was added by the operator`);
      break;
    case "match_annulled":
      if (isRejected({ type: "annul", matchId: event.match_id, reason: event.reason }))
        blame(file, `event ${index}: ${event.match_id} is annulled, but the pairings of later rounds depend on it`);
      except(file, `${name} was annulled by the operator: ${event.reason}`);
      break;
    case "extended":
      if (isRejected({ type: "extend", formatOptions: event.format_options }))
        blame(file, `event ${index}: the league is extended by options that its format does not allow`);
      except(file, `${name} was extended by the operator`);
      break;
    case "pairing_completed":
      if (event.by !== "operator") break;
      if (isRejected({ type: "end" })) blame(file, `event ${index}: the operator cannot end the league now`);
      except(file, `${name} was ended by the operator`);
      break;
    case "player_entered":
      if (event.by_operator) except(file, `${event.player_id} was added to ${name} by the operator after the start`);
      break;
    case "round_expired":
      if (Date.parse(event.at) < (endOfRound(before, event.round_id) ?? Number.POSITIVE_INFINITY))
        blame(file, `event ${index}: the time of round ${event.round_id} is not over`);
      break;
  }
}

/** Returns the events of the decision that this event begins, with this event; none if it begins no decision. */
function decidedWith(before: League | null, event: LeagueEvent): readonly NewLeagueEvent[] {
  if (before === null) return [];
  if (event.type === "round_expired") {
    return eventsOf(decideLeague(before, { type: "expire_round", roundId: event.round_id }));
  }
  if (event.type === "pairing_completed" && event.by === "operator") {
    return eventsOf(decideLeague(before, { type: "end" }));
  }
  if (event.type !== "round_opened") return [];
  const shutDown = new Map(event.absent.map(({ player_id, agent_version }) => [player_id, agent_version]));
  const removed = new Set(event.absent.flatMap(({ player_id, removed }) => (removed ? [player_id] : [])));
  return eventsOf(decideLeague(before, { type: "open_round", roundId: event.round_id, shutDown, removed }));
}

/** The rounds that are not announced. A round that is opened at once is announced only to its players, which can fail to answer until it is over. */
const unannouncedIn = (league: League): readonly number[] =>
  opensAtOnce(league)
    ? []
    : league.rounds.filter(({ isOpened, isAnnounced }) => isOpened && !isAnnounced).map(({ roundId }) => roundId);

const eventsOf = (decided: ReturnType<typeof decideLeague>): readonly NewLeagueEvent[] =>
  decided.ok ? decided.value : [];

/** Returns the fields of an event that a decision determines. */
function decidable(event: LeagueEvent | NewLeagueEvent): object {
  const { v: _, at: __, ...fields } = event as LeagueEvent;
  return fields;
}

/** Whether a release counts as an abort of the match. */
const isAbort = ({ reason }: EventOf<"match_released">): boolean => reason === "aborted" || reason === "overdue";

/** Whether the next abort of a match is final: the match is not played again. */
const isFinalAbort = (league: League, { match_id }: EventOf<"match_aborted" | "match_released">): boolean =>
  (matchOf(league, match_id)?.aborts ?? 0) + 1 >= MAX_ABORTS;

/** The check of a league's pairings. */
interface PairingCheck {
  /** Returns the events that the format requires from this event on, if it begins a decision of the format. */
  decidedWith(before: League | null, event: LeagueEvent, index: number): readonly NewLeagueEvent[];
  /** Reports what was not checked. */
  end(): void;
}

/** Thrown when a format reads a seed that is not revealed. */
class SeedIsSecret extends Error {}

/**
 * Recomputes the decisions of a league's format: each round, and the end of the pairing. The format is called with the state before the event and with
 * the number of slots that the event names.
 */
function checkPairings({ blame, except }: Findings, file: string, seed: string | null): PairingCheck {
  const seedOfLeague = (): string => {
    if (seed === null) throw new SeedIsSecret();
    return seed;
  };
  /** The index after the last event that was not checked. The rounds that follow it can belong to the same decision. */
  let uncheckedUntil = -1;
  let uncheckedReason: string | null = null;
  const unchecked = (index: number, reason: string): readonly NewLeagueEvent[] => {
    uncheckedUntil = index + 1;
    uncheckedReason = reason;
    return [];
  };
  return {
    decidedWith(before, event, index) {
      const command = before && commandOf(before, event, seedOfLeague);
      if (!before || !command) return [];
      const isFollowing = index === uncheckedUntil && event.type === "round_paired";
      if (findFormat(before.format) === null) return unchecked(index, `the format ${before.format} is unknown`);
      if (isFollowing) return unchecked(index, uncheckedReason ?? "");
      try {
        const decided = decideLeague(before, command);
        const events = decided.ok ? decided.value : [];
        const isExplained = events[0]?.type === (event.type === "completed" ? "pairing_completed" : event.type);
        if (!isExplained) blame(file, `event ${index}: ${faultOf(event)}`);
        return event.type === "completed" || !isExplained ? [] : events;
      } catch (thrown) {
        if (thrown instanceof SeedIsSecret) return unchecked(index, "its seed is not revealed before it is completed");
        throw thrown;
      }
    },
    end() {
      if (uncheckedReason !== null) except(file, `the pairings were not checked: ${uncheckedReason}`);
    },
  };
}

/** Returns the command that an event of the format follows from; null for other events. Logs of earlier versions do not have `pairing_completed`. */
function commandOf(before: League, event: LeagueEvent, seed: () => string): LeagueCommand | null {
  switch (event.type) {
    case "started":
      return { type: "start", seed };
    case "round_paired":
      return { type: "pair", seed, slots: event.slots ?? 1 };
    case "pairing_completed":
      return event.by === "operator" ? null : { type: "pair", seed, slots: 1 };
    case "completed":
      return before.isPairingComplete ? null : { type: "pair", seed, slots: 1 };
    default:
      return null;
  }
}

function faultOf({ type }: LeagueEvent): string {
  if (type === "round_paired") return "the format of the league does not have this round";
  return type === "started" ? "the league cannot start" : "the format of the league has not ended";
}
