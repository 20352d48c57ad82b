import { chainHash, GENESIS } from "#shared/lib/hash.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { Frame } from "#shared/web/game-view.ts";
import type { League, Match } from "../../league/league.ts";
import { rolesOf, summaryOf } from "../../league/outcome.ts";
import { faultOfResult } from "../../league/result-check.ts";
import type { Views } from "../../projections/projections.ts";
import { framesOf, type PlayedMatch } from "./match-replay.ts";

/** A completed match with its log. */
interface StoredMatch extends MatchResult {
  readonly options: unknown;
  readonly seed: string;
  readonly roles: PlayedMatch["roles"];
}

/** What the check of a stored match has shown. */
export interface CheckedMatch {
  /** The id of its session. Null if the log cannot be replayed. */
  readonly session: string | null;
  /** The number of entries of the log. */
  readonly entries: number;
  /** The number of frames, and the last one. */
  readonly length: number;
  readonly last: Frame | null;
  /** Why the log does not prove the recorded result; null if it does. */
  readonly fault: string | null;
}

/** A stored match with all its steps. */
export interface ReplayedMatch {
  readonly checked: CheckedMatch;
  readonly match: StoredMatch;
  readonly frames: readonly Frame[];
  /** The hash of each entry. */
  readonly hashes: readonly string[];
}

/** The number of checks in memory. They have about a kilobyte each. */
const MAX_CHECKED = 2_000;
/** The number of replayed matches in memory. A replay takes some milliseconds. */
const MAX_REPLAYED = 20;

/** The completed matches of the leagues, replayed and checked on first use. */
export class StoredMatches {
  readonly #views: Pick<Views, "logOf" | "seedOf">;
  readonly #checked = new Map<string, CheckedMatch>();
  readonly #replayed = new Map<string, ReplayedMatch>();

  constructor(views: Pick<Views, "logOf" | "seedOf">) {
    this.#views = views;
  }

  /** Returns the check of a completed match; null if it is not completed or has no log. */
  find(league: League, match: Match): Promise<CheckedMatch | null> {
    const key = keyOf(league, match);
    return recent(this.#checked, key, MAX_CHECKED, async () => (await this.replay(league, match))?.checked ?? null);
  }

  /** Returns a completed match with its steps; null if it is not completed or has no log. */
  replay(league: League, match: Match): Promise<ReplayedMatch | null> {
    const key = keyOf(league, match);
    return recent(this.#replayed, key, MAX_REPLAYED, () => this.#replay(league, match));
  }

  async #replay(league: League, match: Match): Promise<ReplayedMatch | null> {
    const { leagueId, options } = league;
    const { matchId, roundId, epoch } = match;
    const log = await this.#views.logOf(leagueId, matchId);
    if (log.length === 0) return null;
    const seed = this.#views.seedOf(leagueId, matchId, epoch);
    const ids = { league_id: leagueId, match_id: matchId, round_id: roundId, epoch };
    const result: MatchResult = { ...ids, ...summaryOf(match), faults: [...summaryOf(match).faults], log: [...log] };
    const stored: StoredMatch = { ...result, options, seed, roles: rolesOf(league, match) };
    const { replayed, frames } = framesOf(stored);
    let head = GENESIS;
    return {
      checked: {
        session: replayed.ok ? replayed.value.session.id : null,
        entries: log.length,
        length: frames.length,
        last: frames.at(-1) ?? null,
        fault: faultOfResult(league, match, seed, result, replayed),
      },
      match: stored,
      frames,
      hashes: log.map((text) => {
        head = chainHash(head, text);
        return head;
      }),
    };
  }
}

/** Identifies a stored match; null for a match that is not completed or has no log. */
const keyOf = ({ runId, leagueId }: League, { outcome, matchId, epoch, logHead }: Match): string | null =>
  outcome === null || logHead === "" ? null : `${runId}/${leagueId}/${matchId}/${epoch}/${logHead}`;

/** Returns a value of a cache, which keeps the values that were used last. A value that is missing is computed, unless it is null. */
async function recent<T>(
  cache: Map<string, T>,
  key: string | null,
  limit: number,
  compute: () => Promise<T | null>,
): Promise<T | null> {
  if (key === null) return null;
  const value = cache.get(key) ?? (await compute());
  cache.delete(key);
  if (value === null) return null;
  cache.set(key, value); // the last one is the most recently used
  const [oldest] = cache.keys();
  if (cache.size > limit && oldest !== undefined) cache.delete(oldest);
  return value;
}
