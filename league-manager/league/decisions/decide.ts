import { isDeepStrictEqual } from "node:util";
import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { LeagueCommand, LeagueSettings } from "../commands.ts";
import { isPlayed } from "../format-view.ts";
import type { League } from "../league.ts";
import { type Decided, PAUSED, rejectState, UNCHANGED } from "./decision.ts";
import { decideEnter, decideLeave } from "./entrants.ts";
import { decideAssign, decideRelease, decideSchedule, decideSettle } from "./matches.ts";
import { decideAnnul, decideEnd, decideExtend, decidePause, decideResume } from "./operator.ts";
import { decidePair, decideStart } from "./pairing.ts";
import { decideReport } from "./report.ts";
import { decideAnnounceRound, decideExpireRound, decideOpenRound } from "./rounds.ts";

/**
 * Decides a command. `league` is null before it is opened. Returns the events, or a rejection. A command that was executed before is accepted
 * without events, so that effects can repeat it. Callers that need the fault of a reported result use `decideReport`.
 */
export function decideLeague(league: League | null, command: LeagueCommand): Decided {
  if (command.type === "open") return decideOpen(league, command.settings);
  if (league === null) return err(protocolError("L005", "the league is not opened"));
  switch (command.type) {
    case "enter":
      return decideEnter(league, command);
    case "leave":
      return decideLeave(league, command);
    case "start":
      return decideStart(league, command);
    case "pair":
      return decidePair(league, command);
    case "open_round":
      return decideOpenRound(league, command);
    case "announce_round":
      return decideAnnounceRound(league, command.roundId);
    case "schedule":
      return decideSchedule(league, command);
    case "assign":
      return decideAssign(league, command);
    case "release":
      return decideRelease(league, command);
    case "report": {
      const decided = decideReport(league, command);
      return decided.ok ? ok(decided.value.events) : decided;
    }
    case "settle_withdrawal":
      return decideSettle(league, command);
    case "pause":
      return decidePause(league);
    case "resume":
      return decideResume(league);
    case "extend":
      return decideExtend(league, command);
    case "end":
      return decideEnd(league);
    case "annul":
      return decideAnnul(league, command);
    case "expire_round":
      return decideExpireRound(league, command);
    case "complete":
      if (league.status === "completed") return UNCHANGED;
      return isPlayed(league)
        ? ok([{ type: "completed" }])
        : rejectState(league, league.isPaused ? PAUSED : "its matches are not completed");
  }
}

function decideOpen(league: League | null, settings: LeagueSettings): Decided {
  const { leagueId, runId, seedCommitment } = settings;
  const config = configOf(settings);
  if (league === null) {
    return ok([{ type: "opened", league_id: leagueId, run_id: runId, ...config, seed_commitment: seedCommitment }]);
  }
  const isSame = isDeepStrictEqual(configOf(league), config);
  return isSame || league.status !== "open" ? UNCHANGED : ok([{ type: "reconfigured", ...config }]);
}

/** The settings that the config determines, as events contain them. */
function configOf(settings: LeagueSettings) {
  const { game, roles, options, clock, format, formatOptions } = settings;
  const { tieBreaks, teams, openings, lateEntry, startsAt, roundMs } = settings;
  return {
    ...{ game, roles, options },
    ...(clock && { clock }),
    format,
    ...(Object.keys(formatOptions).length > 0 && { format_options: formatOptions }),
    ...(tieBreaks && { tie_breaks: tieBreaks }),
    ...(teams && { teams }),
    ...(openings && { openings }),
    ...(lateEntry !== "closed" && { late_entry: lateEntry }),
    ...(startsAt !== null && { starts_at: startsAt }),
    ...(roundMs !== null && { round_ms: roundMs }),
  };
}
