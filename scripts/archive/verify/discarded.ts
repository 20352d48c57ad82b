import { matchRef } from "#shared/lib/ids.ts";
import { MAX_ABORTS } from "../../../league-manager/league/decide.ts";
import type { Findings } from "./findings.ts";
import type { LeagueLog } from "./league-log.ts";

/**
 * Returns the number of discarded assignments of a league. A discarded assignment is repeated in a new epoch with another seed. A match is an exception
 * if more than `MAX_ABORTS` of its assignments were released because the referee was unreachable or rejected them: the manager does not limit these
 * releases, so the operator could have repeated the match until its result was the wanted one. `checkCourse` checks the limit of aborts.
 */
export function checkDiscarded({ except }: Findings, { file, events, league }: LeagueLog): number {
  const released = new Map<string, { all: number; unlimited: number }>();
  for (const event of events) {
    if (event.type !== "match_released") continue;
    const { all, unlimited } = released.get(event.match_id) ?? { all: 0, unlimited: 0 };
    const isUnlimited = event.reason === "unreachable" || event.reason === "refused";
    released.set(event.match_id, { all: all + 1, unlimited: unlimited + (isUnlimited ? 1 : 0) });
  }
  for (const [matchId, { all, unlimited }] of released) {
    if (unlimited <= MAX_ABORTS || !league) continue;
    const name = matchRef(league.leagueId, matchId);
    except(file, `${name} was assigned ${all + 1} times: ${all} assignments were discarded`);
  }
  return [...released.values()].reduce((sum, { all }) => sum + all, 0);
}
