import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { QUOTED_CHARACTERS } from "../events.ts";
import { matchOf } from "../evolve.ts";
import { formatOf, isPlayed, parsedOptions, viewOf } from "../format-view.ts";
import { type League, type Match, roundOf } from "../league.ts";
import { ANNULLED, summaryOf } from "../outcome.ts";
import { type CommandOf, cancellationsOf, type Decided, rejectLeague, rejectMatch, UNCHANGED } from "./decision.ts";

/** Returns the rejection of a change if a league was ended or has no match left, else null. The end of such a league is being announced, and a player that knows it may end its process. */
function rejectOver(league: League): Decided | null {
  if (league.isEnded) return rejectLeague(league, "is already ended by the operator");
  return isPlayed(league) ? rejectLeague(league, "has completed its last match and ends by itself") : null;
}

const rejectNotRunning = (league: League, change: "paused" | "resumed" | "extended" | "ended"): Decided =>
  rejectLeague(league, `is ${league.status}; only a running league can be ${change}`);

export function decidePause(league: League): Decided {
  if (league.status !== "running") return rejectNotRunning(league, "paused");
  return rejectOver(league) ?? (league.isPaused ? UNCHANGED : ok([{ type: "paused" }]));
}

export function decideResume(league: League): Decided {
  if (league.status !== "running") return rejectNotRunning(league, "resumed");
  return league.isPaused ? ok([{ type: "resumed" }]) : UNCHANGED;
}

/** Raises options of the format that it declares as extendable. Changes that leave fewer matches are rejected. */
export function decideExtend(league: League, { formatOptions }: CommandOf<"extend">): Decided {
  if (league.status !== "running") return rejectNotRunning(league, "extended");
  const over = rejectOver(league);
  if (over) return over;
  const format = formatOf(league);
  const changed = Object.keys(formatOptions).filter((name) => formatOptions[name] !== league.formatOptions[name]);
  const fixed = changed.find((name) => !format.extendable.includes(name));
  if (fixed !== undefined) {
    const allowed =
      format.extendable.length > 0 ? `only ${format.extendable.join(" and ")} can` : "none of its options can";
    return rejectLeague(
      league,
      `cannot be extended by ${fixed}: its format is ${format.id}, and ${allowed} be raised`,
      "L001",
    );
  }
  const parsed = format.options.safeParse({ ...league.formatOptions, ...formatOptions });
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => faultLine(issue)).join("; ");
    return rejectLeague(league, `cannot be extended: ${faults}`, "L001");
  }
  // An option that can be raised is a number. It may have no default.
  const before = parsedOptions(league) as Readonly<Record<string, number | undefined>>;
  const after = parsed.data as Readonly<Record<string, number | undefined>>;
  for (const name of changed) {
    const least = before[name] ?? league.rounds.length;
    if ((after[name] ?? 0) < least) {
      return rejectLeague(league, `cannot be extended: ${name} must be a number of at least ${least}`, "L001");
    }
  }
  const view = viewOf(league, "");
  if ((format.remaining(view, after) ?? 0) < (format.remaining(view, before) ?? 0)) {
    return rejectLeague(
      league,
      `cannot be extended: ${changed.join(", ")} would leave fewer matches than before`,
      "L001",
    );
  }
  if (!changed.some((name) => after[name] !== before[name])) return UNCHANGED;
  return ok([{ type: "extended", format_options: { ...league.formatOptions, ...formatOptions } }]);
}

/** Ends a running league, also a paused one: no round is paired any more, and all matches that are not completed are cancelled. */
export function decideEnd(league: League): Decided {
  if (league.status !== "running") return rejectNotRunning(league, "ended");
  return (
    rejectOver(league) ??
    ok([
      { type: "pairing_completed", by: "operator" },
      ...league.rounds.flatMap(({ matches }) => cancellationsOf(matches)),
    ])
  );
}

/** Annuls a match, unless rounds that are paired already depend on its result. */
export function decideAnnul(league: League, { matchId, reason }: CommandOf<"annul">): Decided {
  const match = matchOf(league, matchId);
  const name = matchRef(league.leagueId, matchId);
  if (!match) return rejectMatch(league, matchId);
  if (league.status !== "running") return rejectLeague(league, `is ${league.status}; its matches cannot be annulled`);
  if (match.outcome?.reason === ANNULLED) return UNCHANGED;
  const over = rejectOver(league);
  if (over) return over;
  const dependent = dependentRound(league, match);
  if (dependent !== null) {
    const message = `${name} cannot be annulled: the pairings of round ${dependent} depend on it`;
    return err(protocolError("G005", message, { match_id: matchId, round_id: dependent }));
  }
  return ok([
    {
      ...({ type: "match_annulled", match_id: matchId, epoch: match.epoch } as const),
      reason: reason.slice(0, QUOTED_CHARACTERS),
      ...(match.outcome && { match_points: summaryOf(match).match_points }),
    },
  ]);
}

/** The first round whose pairings can depend on the result of a match: the next one, unless the format ignores results; null if there is none. */
const dependentRound = (league: League, { roundId }: Match): number | null =>
  formatOf(league).ignoresResults ? null : (roundOf(league, roundId + 1)?.roundId ?? null);
