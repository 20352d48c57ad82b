import { matchRef } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { protocolRejected } from "../sessions/rejections.ts";
import type { MatchTable } from "./match-table.ts";

const MAX_LOOKED_UP = 1_000;

/** Finds the sessions of matches. Found sessions are cached, because a query of the file locks it twice, which takes 60 µs. */
export class MatchSessions {
  readonly #matches: MatchTable;
  readonly #lookedUp = new Map<string, string>();

  constructor(matches: MatchTable) {
    this.#matches = matches;
  }

  /** The session of a match id, alone or as `league_id/match_id`. */
  of(ref: string): Result<string, ProtocolError> {
    const known = this.#lookedUp.get(ref);
    if (known) return ok(known);
    const slash = ref.indexOf("/");
    const matchId = slash < 0 ? ref : ref.slice(slash + 1);
    const leagues = slash < 0 ? this.#matches.leaguesOf(ref) : [ref.slice(0, slash)];
    const league = leagues[0];
    if (leagues.length > 1) {
      const choices = leagues.map((id) => matchRef(id, matchId));
      return protocolRejected("AMBIGUOUS_MATCH", `${ref} is a match of several leagues; name one of them`, {
        choices,
      });
    }
    const found = league === undefined ? null : this.#matches.find(league, matchId);
    if (!found) return protocolRejected("UNKNOWN_SESSION", `no match ${ref} here`, { match_id: ref });
    if (this.#lookedUp.size >= MAX_LOOKED_UP) this.#lookedUp.clear();
    this.#lookedUp.set(ref, found.session_id);
    return ok(found.session_id);
  }

  /** Clears the cache. Must be called after a match has been created, because a match id may then name another session. */
  forget(): void {
    this.#lookedUp.clear();
  }
}
