import { findFormat } from "#shared/formats/registry.ts";
import { decideLeague } from "../../../league-manager/league/decide.ts";
import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { League, LeagueCommand, NewLeagueEvent } from "../../../league-manager/league/league.ts";
import type { Findings } from "./findings.ts";

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
export function checkPairings({ blame, except }: Findings, file: string, seed: string | null): PairingCheck {
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
