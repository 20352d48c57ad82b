import { matchRef } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import type { MatchTable } from "./match-table.ts";

const MAX_CACHED = 1_000;

/** Finds the sessions of matches. The results are cached, because each query locks and unlocks the file, which takes 60 µs. */
export class MatchSessions {
  readonly #matches: MatchTable;
  readonly #cache = new Map<string, string>();

  constructor(matches: MatchTable) {
    this.#matches = matches;
  }

  /** Returns the session id of a match, which is named by its id or by `league_id/match_id`. */
  of(ref: string): Result<string, ProtocolError> {
    const known = this.#cache.get(ref);
    if (known) return ok(known);
    const slash = ref.indexOf("/");
    const matchId = slash < 0 ? ref : ref.slice(slash + 1);
    const leagues = slash < 0 ? this.#matches.leaguesOf(ref) : [ref.slice(0, slash)];
    const league = leagues[0];
    if (leagues.length > 1) {
      const choices = leagues.map((id) => matchRef(id, matchId));
      return protocolRejected("AMBIGUOUS_MATCH", `${ref} is a match of several leagues; give league_id/match_id`, {
        choices,
      });
    }
    const found = league === undefined ? null : this.#matches.find(league, matchId);
    if (!found) return protocolRejected("UNKNOWN_SESSION", `no match ${ref} here`, { match_id: ref });
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    this.#cache.set(ref, found.session_id);
    return ok(found.session_id);
  }

  /** Clears the cache. Must be called after a match has been created, because a match id may then name another session. */
  forget(): void {
    this.#cache.clear();
  }
}
