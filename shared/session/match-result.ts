import { isDeepStrictEqual } from "node:util";
import type { Role } from "#shared/games/game.ts";
import { matchAgentId } from "../lib/ids.ts";
import type { TimeControl } from "../lib/time-control.ts";
import type { Fault } from "./entry.ts";
import { replayTexts } from "./replay.ts";
import { optionsOfNew, type Session } from "./session.ts";
import { verdictOf } from "./verdict.ts";

/** The outcome of a match: the verdict of its session, by player instead of by role. */
interface MatchOutcome {
  readonly winner: string | null;
  readonly final_scores: Readonly<Record<string, number>>;
  readonly match_points: Readonly<Record<string, number>>;
  readonly termination: "normal" | "forfeit" | "aborted";
  readonly reason: string;
  readonly faults: (Fault & { readonly player_id: string })[];
  /** The hash of the last log entry. */
  readonly log_head: string;
}

/**
 * Returns the outcome of a completed session. `head` is the hash of its last entry, `players` maps roles to players.
 * Throws if the session is active.
 */
export function outcomeOf(session: Session, head: string, players: Readonly<Record<Role, string>>): MatchOutcome {
  const verdict = verdictOf(session);
  const byPlayer = <T>(values: Readonly<Record<Role, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(values).map(([role, value]) => [players[role] ?? role, value]));
  return {
    winner: verdict.winner === null ? null : (players[verdict.winner] ?? null),
    final_scores: byPlayer(verdict.scores),
    match_points: byPlayer(verdict.points),
    termination: verdict.termination === "expired" ? "aborted" : verdict.termination,
    reason: verdict.reason,
    faults: session.faults.map((fault) => ({ player_id: players[fault.role] ?? "", ...fault })),
    log_head: head,
  };
}

/** A result as a referee reports it, with the log that must prove it. */
export interface ReportedMatch extends Omit<MatchOutcome, "faults"> {
  readonly game: string;
  /** The options in the league's config, before they are parsed. */
  readonly options: unknown;
  /** The time control in the league's config; null or absent for a match without clocks. */
  readonly clock?: TimeControl | null | undefined;
  readonly seed: string;
  /** Role to player. */
  readonly roles: Readonly<Record<Role, string>>;
  readonly faults: readonly unknown[];
  /** The stored texts of the entries, in order. */
  readonly log: readonly string[];
}

/**
 * Replays the log of a match with its seed. Returns a message for each field of the result that does not follow from
 * the log; empty if the result is proven.
 */
export const faultsOfMatch = (reported: ReportedMatch): readonly string[] =>
  faultsOfReplayed(reported, replayTexts(reported.log, reported.seed));

/** As `faultsOfMatch`, for a log that the caller has replayed with the seed of the match. */
export function faultsOfReplayed(reported: ReportedMatch, replayed: ReturnType<typeof replayTexts>): readonly string[] {
  if (!replayed.ok) return [`log entry ${replayed.error.seq}: ${replayed.error.message}`];
  const { session, head } = replayed.value;
  if (session.status !== "completed") return ["the log does not reach the end of the match"];
  const { game } = session;
  const options = game.options.safeParse(reported.options ?? {});
  const expected = {
    game: game.id,
    ...outcomeOf(session, head, reported.roles),
  };
  const faults = Object.entries(expected).flatMap(([field, value]) =>
    isDeepStrictEqual(value, reported[field as keyof typeof expected]) || isOmitted(reported, field)
      ? []
      : [
          `${field} is ${JSON.stringify(reported[field as keyof typeof expected])}, but the log gives ${JSON.stringify(value)}`,
        ],
  );
  // Logs of earlier versions have the options as START_GAME gave them. Later logs also record the version of a rule.
  const hasConfiguredOptions =
    options.success &&
    [options.data, optionsOfNew(game, options.data)].some((accepted) => isDeepStrictEqual(session.options, accepted));
  return [
    ...faults,
    ...(hasConfiguredOptions ? [] : ["the log belongs to a match with other options"]),
    ...(isDeepStrictEqual(timeControlOf(session), reported.clock ?? null)
      ? []
      : ["the log belongs to a match with other clocks"]),
  ];
}

const timeControlOf = ({ clocks }: Session): TimeControl | null =>
  clocks && { initial_ms: clocks.initial_ms, increment_ms: clocks.increment_ms };

/** Returns the participants of a match's session (role to agent id), as the referees of this project name them. */
export const participantsOf = ({
  league_id,
  match_id,
  roles,
}: {
  readonly league_id: string;
  readonly match_id: string;
  /** Role to player. */
  readonly roles: Readonly<Record<Role, string>>;
}): Readonly<Record<Role, string>> =>
  Object.fromEntries(Object.entries(roles).map(([role, player]) => [role, matchAgentId(player, league_id, match_id)]));

/**
 * Returns whether a field is missing because an aborted match gives no points: its points and scores may be omitted.
 */
const isOmitted = (reported: ReportedMatch, field: string): boolean =>
  reported.termination === "aborted" &&
  (field === "match_points" || field === "final_scores") &&
  Object.keys(reported[field]).length === 0;
