import { findGame } from "#shared/games/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { faultsOfMatch } from "#shared/session/match-result.ts";
import { summaryOf } from "../../../league-manager/league/outcome.ts";
import type { Findings } from "./findings.ts";
import type { LeagueLog } from "./league-log.ts";
import { type CheckedMatch, namesItsPlayers } from "./match.ts";

/** Checks the session log of an annulled match: the result that the match had before must follow from it. Exports of earlier versions have no such log. */
export function checkAnnulledLog(findings: Findings, { annulled }: LeagueLog, { file, match }: CheckedMatch): void {
  if (!match.annulled_log) return;
  const before = annulled.get(match.match_id);
  if (!before?.outcome) {
    findings.blame(file, "has an annulled_log, but the log of the league does not annul a result of this match");
    return;
  }
  if (!findGame(match.game)) return;
  const played = { ...match, ...summaryOf(before), faults: [...before.outcome.faults], log: match.annulled_log };
  const faults = faultsOfMatch(played);
  for (const message of faults) findings.blame(file, `annulled_log: ${message}`);
  if (faults.length === 0 && !namesItsPlayers(played))
    findings.except(file, `the log of ${matchRef(match.league_id, match.match_id)} does not name its players`);
}
