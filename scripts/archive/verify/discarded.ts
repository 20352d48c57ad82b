import { matchRef } from "#shared/lib/ids.ts";
import { MAX_ABORTS } from "../../../league-manager/league/report.ts";
import type { Findings } from "./findings.ts";
import type { LeagueLog } from "./league-log.ts";

/**
 * Returns how many assignments of a league were discarded: the match was taken from its referee and played under a new epoch, with another seed.
 * A match of which more than `MAX_ABORTS` assignments were released because the referee was unreachable or rejected them is an exception, because
 * the manager has no limit for them: the operator could have repeated the match until it had the wanted result. `checkCourse` checks the limit of
 * aborts.
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
    except(file, `${name} was given to a referee ${all + 1} times: ${all} attempts were discarded`);
  }
  return [...released.values()].reduce((sum, { all }) => sum + all, 0);
}
