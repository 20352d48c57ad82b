import { isDeepStrictEqual } from "node:util";
import type { Role } from "../games/game.ts";
import { matchAgentId } from "../lib/ids.ts";
import type { Fault } from "./entry.ts";
import { replayTexts } from "./replay.ts";
import { optionsOfNew, type Session } from "./session.ts";
import { verdictOf } from "./verdict.ts";

/** What a finished session means for a league's match: players instead of roles. */
interface MatchOutcome {
  readonly winner: string | null;
  readonly final_scores: Readonly<Record<string, number>>;
  readonly match_points: Readonly<Record<string, number>>;
  readonly termination: "normal" | "forfeit" | "aborted";
  readonly reason: string;
  readonly faults: (Fault & { readonly player_id: string })[];
  /** Hash of the last entry. */
  readonly log_head: string;
}

/** The outcome of a completed session. `head` is the hash of its last entry, `players` is role to player. Throws if the session is active. */
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

/** A reported result, with the log that must prove it. */
export interface ReportedMatch extends Omit<MatchOutcome, "faults"> {
  readonly game: string;
  /** As the league's config has them. */
  readonly options: unknown;
  readonly seed: string;
  /** Role to player. */
  readonly roles: Readonly<Record<Role, string>>;
  readonly faults: readonly unknown[];
  /** The entries' stored texts, in order. */
  readonly log: readonly string[];
}

/** Replays a match's log by the rules, from the match's game, options and seed, and returns each field of the result that does not follow from it. */
export function faultsOfMatch(told: ReportedMatch): readonly string[] {
  const replayed = replayTexts(told.log, told.seed);
  if (!replayed.ok) return [`log entry ${replayed.error.seq}: ${replayed.error.message}`];
  const { session, head } = replayed.value;
  if (session.status !== "completed") return ["the log does not lead to an end"];
  const { game } = session;
  const options = game.options.safeParse(told.options ?? {});
  const expected = {
    game: game.id,
    ...outcomeOf(session, head, told.roles),
  };
  const faults = Object.entries(expected).flatMap(([field, value]) =>
    isDeepStrictEqual(value, told[field as keyof typeof expected]) || isLeftOut(told, field)
      ? []
      : [
          `${field} is ${JSON.stringify(told[field as keyof typeof expected])}, but the log gives ${JSON.stringify(value)}`,
        ],
  );
  // A log that is older than a rule's version has the options as START_GAME gave them, a newer log also names the version.
  const isAsOrdered =
    options.success &&
    [options.data, optionsOfNew(game, options.data)].some((given) => isDeepStrictEqual(session.options, given));
  return isAsOrdered ? faults : [...faults, "the log is of a match with other options"];
}

/** Role to agent of the session of a match, as the referees of this project name them. */
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

/** An aborted match gives no points, so its points and scores may be left out. */
const isLeftOut = (told: ReportedMatch, field: string): boolean =>
  told.termination === "aborted" &&
  (field === "match_points" || field === "final_scores") &&
  Object.keys(told[field]).length === 0;
