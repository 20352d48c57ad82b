import { matchRef } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { LeagueCommand, NewLeagueEvent } from "./commands.ts";
import { isPlayed } from "./decide-pairing.ts";
import { QUOTED_CHARACTERS } from "./events.ts";
import { matchOf } from "./evolve.ts";
import { acceptsLateEntries, formatOf, parsedOptions, viewOf } from "./format-view.ts";
import type { League, Match, Round } from "./league.ts";
import { ANNULLED, summaryOf } from "./outcome.ts";

type Decided = Result<readonly NewLeagueEvent[], ProtocolError>;
type CommandOf<T extends LeagueCommand["type"]> = Extract<LeagueCommand, { type: T }>;

const UNCHANGED: Decided = ok([]);

const ENDED = "is already ended by the operator";

const reject = (league: League, detail: string, code: ProtocolError["error_code"] = "L005"): Decided =>
  err(protocolError(code, `league ${league.leagueId} ${detail}`, { league_id: league.leagueId }));

/** Enters a player into an open league, or into a running one that accepts late entries. */
export function decideEnter(league: League, { playerId, nameCommitment, byOperator }: CommandOf<"enter">): Decided {
  if (league.entrants.has(playerId)) return UNCHANGED;
  const entry = { type: "player_entered", player_id: playerId, name_commitment: nameCommitment } as const;
  if (league.status === "open") return ok([entry]);
  const closed = lateEntryRejection(league, byOperator === true);
  if (closed !== null) return reject(league, closed, "L001");
  return ok([{ ...entry, entered_after: league.rounds.length, ...(byOperator && { by_operator: true }) }]);
}

/** Returns the reason why a league that is not open accepts no further player, or null if it accepts one. */
export function lateEntryRejection(league: League, byOperator: boolean): string | null {
  const { status, lateEntry, isPairingComplete, format } = league;
  if (status === "completed") return "is over";
  if (lateEntry === "closed" && !byOperator) return "is running and accepts no more players";
  if (!acceptsLateEntries(league)) {
    const advice = format === "round-robin" ? '; its config needs "late_entry": "makeup" before the start' : "";
    return `is running, and its format has no matches for a player that enters now${advice}`;
  }
  return isPairingComplete ? "is running, and its last matches are paired" : null;
}

export function decidePause(league: League): Decided {
  if (league.status !== "running") return reject(league, `is ${league.status}; only a running league can be paused`);
  if (league.isEnded) return reject(league, ENDED);
  return league.isPaused ? UNCHANGED : ok([{ type: "paused" }]);
}

export function decideResume(league: League): Decided {
  if (league.status !== "running") return reject(league, `is ${league.status}; only a running league can be resumed`);
  return league.isPaused ? ok([{ type: "resumed" }]) : UNCHANGED;
}

/** Raises options of the format that it declares as extendable. Changes that leave fewer matches are rejected. */
export function decideExtend(league: League, { formatOptions }: CommandOf<"extend">): Decided {
  if (league.status !== "running") return reject(league, `is ${league.status}; only a running league can be extended`);
  if (league.isEnded) return reject(league, ENDED);
  const format = formatOf(league);
  const changed = Object.keys(formatOptions).filter((name) => formatOptions[name] !== league.formatOptions[name]);
  const fixed = changed.find((name) => !format.extendable.includes(name));
  if (fixed !== undefined) {
    const allowed =
      format.extendable.length > 0 ? `only ${format.extendable.join(" and ")} can` : "none of its options can";
    return reject(
      league,
      `cannot be extended by ${fixed}: its format is ${format.id}, and ${allowed} be raised`,
      "L001",
    );
  }
  const parsed = format.options.safeParse({ ...league.formatOptions, ...formatOptions });
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => faultLine(issue)).join("; ");
    return reject(league, `cannot be extended: ${faults}`, "L001");
  }
  const before = parsedOptions(league) as Readonly<Record<string, unknown>>;
  const after = parsed.data as Readonly<Record<string, unknown>>;
  for (const name of changed) {
    const least = typeof before[name] === "number" ? before[name] : league.rounds.length;
    if (typeof after[name] !== "number" || after[name] < least) {
      return reject(league, `cannot be extended: ${name} must be a number of at least ${least}`, "L001");
    }
  }
  const view = viewOf(league, "");
  if ((format.remaining(view, after) ?? 0) < (format.remaining(view, before) ?? 0)) {
    return reject(league, `cannot be extended: ${changed.join(", ")} would leave fewer matches than before`, "L001");
  }
  if (!changed.some((name) => after[name] !== before[name])) return UNCHANGED;
  return ok([{ type: "extended", format_options: { ...league.formatOptions, ...formatOptions } }]);
}

/** Ends a running league, also a paused one: no round is paired any more, and all matches that are not completed are cancelled. */
export function decideEnd(league: League): Decided {
  if (league.status !== "running") return reject(league, `is ${league.status}; only a running league can be ended`);
  if (league.isEnded) return reject(league, ENDED);
  if (isPlayed(league)) return reject(league, "has completed its last match and ends by itself");
  return ok([{ type: "pairing_completed", by: "operator" }, ...league.rounds.flatMap(cancellationsOf)]);
}

/** The events that cancel the matches of a round that are not completed. */
const cancellationsOf = ({ matches }: Round): readonly NewLeagueEvent[] =>
  matches.flatMap(({ matchId, epoch, status }) =>
    status === "completed" ? [] : [{ type: "match_cancelled", match_id: matchId, epoch }],
  );

/** Annuls a match, unless rounds that are paired already depend on its result. */
export function decideAnnul(league: League, { matchId, reason }: CommandOf<"annul">): Decided {
  const match = matchOf(league, matchId);
  const name = matchRef(league.leagueId, matchId);
  if (!match) return err(protocolError("G003", `no match ${name}`, { match_id: matchId }));
  if (league.status !== "running") return reject(league, `is ${league.status}; its matches cannot be annulled`);
  if (match.outcome?.reason === ANNULLED) return UNCHANGED;
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

/**
 * The first round whose pairings can depend on the result of a match; null if there is none. A format that opens its rounds in order pairs a round after
 * all earlier matches are completed, so that rounds that were paired together do not depend on each other.
 */
function dependentRound(league: League, { roundId }: Match): number | null {
  const { ignoresResults, opensRounds } = formatOf(league);
  if (ignoresResults) return null;
  const pairedAfter = league.rounds[roundId - 1]?.pairedAfter ?? 0;
  const later = league.rounds
    .slice(roundId)
    .find((round) => opensRounds === "at_once" || round.pairedAfter > pairedAfter);
  return later?.roundId ?? null;
}

/** Ends a round whose time is over: its matches that are not completed are cancelled, and count for no player. */
export function decideExpireRound(league: League, { roundId }: CommandOf<"expire_round">): Decided {
  const round = league.rounds[roundId - 1];
  if (!round?.isOpened || round.isExpired || round.open === 0 || league.roundMs === null) return UNCHANGED;
  if (league.isPaused) return reject(league, "is paused");
  return ok([{ type: "round_expired", round_id: roundId }, ...cancellationsOf(round)]);
}

/** The rejection of a request that names an unknown league. It names the leagues that exist. */
export function noLeague(league_id: string, leagues: Iterable<Pick<League, "leagueId">>): ProtocolError {
  const known = Array.from(leagues, ({ leagueId }) => leagueId).join(", ") || "none";
  return protocolError("L005", `no league ${league_id}; there are ${known}`, { league_id });
}
