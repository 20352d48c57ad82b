import { isDeepStrictEqual } from "node:util";
import type { Role } from "../games/game.ts";
import { messageOf } from "../lib/result.ts";
import { type Fault, type LogRow, parseEntry, rowsOf } from "./entry.ts";
import { replay } from "./replay.ts";
import { optionsOfNew, type Session } from "./session.ts";
import { verdictOf } from "./verdict.ts";

/** What a finished session means for a league's match: players instead of roles. */
export interface MatchOutcome {
  readonly winner: string | null;
  readonly final_scores: Readonly<Record<string, number>>;
  readonly match_points: Readonly<Record<string, number>>;
  readonly termination: "normal" | "forfeit" | "aborted";
  readonly reason: string;
  readonly faults: (Fault & { readonly player_id: string })[];
  /** Hash of the last entry. */
  readonly log_head: string;
}

/** The outcome of a completed session; `players` is role to player. */
export function outcomeOf(
  session: Session,
  rows: readonly LogRow[],
  players: Readonly<Record<Role, string>>,
): MatchOutcome {
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
    log_head: rows.at(-1)?.hash ?? "",
  };
}

/** A match as it is told: its outcome, and the log that it is to follow from. */
export interface ToldMatch extends Omit<MatchOutcome, "faults"> {
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

/** What does not hold between a told match and its log: the log is replayed by the rules, from the match's game, options and seed. */
export function faultsOfMatch(told: ToldMatch): readonly string[] {
  let rows: readonly LogRow[];
  try {
    const created = parseEntry(told.log[0] ?? "null");
    rows = rowsOf(created.type === "created" ? created.session_id : "", told.log);
  } catch (thrown) {
    return [`log: ${messageOf(thrown)}`];
  }
  const replayed = replay(rows, told.seed);
  if (!replayed.ok) return [`log entry ${replayed.error.seq}: ${replayed.error.message}`];
  const session = replayed.value;
  if (session.status !== "completed") return ["the log does not lead to an end"];
  const { game } = session;
  const options = game.options.safeParse(told.options ?? {});
  const expected = {
    game: game.id,
    ...outcomeOf(session, rows, told.roles),
  };
  const faults = Object.entries(expected).flatMap(([field, value]) =>
    isDeepStrictEqual(value, told[field as keyof typeof expected])
      ? []
      : [
          `${field} is ${JSON.stringify(told[field as keyof typeof expected])}, but the log gives ${JSON.stringify(value)}`,
        ],
  );
  // A log that is older than a rule's version has the options as they were ordered, a newer one names the version.
  const isAsOrdered =
    options.success &&
    [options.data, optionsOfNew(game, options.data)].some((ordered) => isDeepStrictEqual(session.options, ordered));
  return isAsOrdered ? faults : [...faults, "the log is of a match with other options"];
}
