import { chainHash, GENESIS } from "#shared/lib/hash-chain.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { Frame } from "#shared/web/replay-view.ts";
import type { League, Match } from "../../league/league.ts";
import { rolesOf, summaryOf } from "../../league/outcome.ts";
import { faultOfResult } from "../../league/result-check.ts";
import type { Views } from "../../projections/views.ts";
import { framesOf, type PlayedMatch } from "./replay.ts";

/** A completed match with its log. */
export interface StoredMatch extends MatchResult {
  readonly options: unknown;
  readonly seed: string;
  readonly roles: PlayedMatch["roles"];
}

/** A stored match as pages show it. */
export interface CheckedMatch {
  readonly match: StoredMatch;
  /** The id of its session. Null if the log cannot be replayed. */
  readonly session: string | null;
  readonly frames: readonly Frame[];
  /** The hash of each entry. */
  readonly hashes: readonly string[];
  /** Why the log does not prove the recorded result; null if it does. */
  readonly fault: string | null;
}

/** The number of checked matches in memory. A check replays the match, which takes some milliseconds. */
const MAX_CHECKED = 20;

/** The completed matches of the leagues, replayed and checked on first use. */
export class StoredMatches {
  readonly #views: Pick<Views, "logOf" | "seedOf">;
  readonly #checked = new Map<string, CheckedMatch>();

  constructor(views: Pick<Views, "logOf" | "seedOf">) {
    this.#views = views;
  }

  /** Returns a completed match; null if it is not completed or has no log. */
  find(league: League, match: Match): CheckedMatch | null {
    if (match.outcome === null || match.logHead === "") return null;
    const key = `${league.runId}/${league.leagueId}/${match.matchId}/${match.epoch}/${match.logHead}`;
    const found = this.#checked.get(key) ?? this.#check(league, match);
    this.#checked.delete(key);
    if (!found) return null;
    this.#checked.set(key, found); // the last one is the most recently used
    const [oldest] = this.#checked.keys();
    if (this.#checked.size > MAX_CHECKED && oldest !== undefined) this.#checked.delete(oldest);
    return found;
  }

  #check(league: League, match: Match): CheckedMatch | null {
    const { leagueId, options } = league;
    const { matchId, roundId, epoch } = match;
    const log = this.#views.logOf(leagueId, matchId);
    if (log.length === 0) return null;
    const seed = this.#views.seedOf(leagueId, matchId, epoch);
    const ids = { league_id: leagueId, match_id: matchId, round_id: roundId, epoch };
    const result: MatchResult = { ...ids, ...summaryOf(match), faults: [...summaryOf(match).faults], log: [...log] };
    const stored: StoredMatch = { ...result, options, seed, roles: rolesOf(league, match) };
    const replayed = framesOf(stored);
    let head = GENESIS;
    return {
      match: stored,
      session: replayed?.session.id ?? null,
      frames: replayed?.frames ?? [],
      hashes: log.map((text) => {
        head = chainHash(head, text);
        return head;
      }),
      fault: faultOfResult(league, match, seed, result),
    };
  }
}
