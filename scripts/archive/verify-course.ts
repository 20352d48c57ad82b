import { isDeepStrictEqual } from "node:util";
import { matchRef } from "#shared/lib/ids.ts";
import type { NewLeagueEvent } from "../../league-manager/league/commands.ts";
import { decideLeague } from "../../league-manager/league/decide.ts";
import type { LeagueEvent } from "../../league-manager/league/events.ts";
import { matchOf } from "../../league-manager/league/evolve.ts";
import type { League } from "../../league-manager/league/league.ts";
import { MAX_ABORTS } from "../../league-manager/league/report.ts";
import type { Findings } from "./findings.ts";
import { MAX_PLAYERS } from "./format.ts";
import type { LeagueLog, LoggedEvent } from "./league-log.ts";

type EventOf<T extends LeagueEvent["type"]> = Extract<LeagueEvent, { type: T }>;

/**
 * Checks that a league took the course that its format determines. That each event can follow is checked by the fold; here it is checked that the
 * manager had to give the pairings, the forfeits and the aborts that it gave.
 */
export function checkCourse({ blame, except }: Findings, { file, steps, league }: LeagueLog): void {
  const explained = new Set<LeagueEvent>();
  for (const [index, { before, event }] of steps.entries()) {
    const decided = decidedWith(before, event);
    for (const [offset, expected] of decided.entries()) {
      const found = steps[index + offset]?.event;
      if (found && isDeepStrictEqual(decidable(found), decidable(expected))) explained.add(found);
      else blame(file, `event ${index + offset} is not the ${expected.type} that follows from ${event.type}`);
    }
  }
  for (const [index, { before, event }] of steps.entries()) {
    const isUnexplained = !explained.has(event);
    if (event.type === "round_paired" && isUnexplained)
      blame(file, `event ${index}: a round that the format does not pair`);
    if (event.type === "match_completed" && event.referee_id === null && isUnexplained)
      blame(
        file,
        `event ${index}: ${event.match_id} is forfeited, but its players were not shut down when its round was opened`,
      );
    if (event.type === "match_aborted" && before && !hasBeenAborted(before, event))
      blame(
        file,
        `event ${index}: ${event.match_id} is aborted for good before it was aborted ${MAX_ABORTS - 1} times`,
      );
    if (event.type === "match_scheduled" && league)
      except(file, `${matchRef(league.leagueId, event.match_id)} was added by the operator`);
  }
}

/** The events that the manager decides together with this one, which is the first of them. */
function decidedWith(before: LoggedEvent["before"], event: LeagueEvent): readonly NewLeagueEvent[] {
  if (before === null || before.entrants.size > MAX_PLAYERS) return [];
  if (event.type === "started") return eventsOf(decideLeague(before, { type: "start" }));
  if (event.type !== "round_opened") return [];
  const shutDown = new Map(event.absent.map(({ player_id, agent_version }) => [player_id, agent_version]));
  return eventsOf(decideLeague(before, { type: "open_round", roundId: event.round_id, shutDown }));
}

const eventsOf = (decided: ReturnType<typeof decideLeague>): readonly NewLeagueEvent[] =>
  decided.ok ? decided.value : [];

/** The fields of an event that a decision determines. */
function decidable(event: LeagueEvent | NewLeagueEvent): object {
  const { v: _, at: __, ...fields } = event as LeagueEvent;
  return fields;
}

const hasBeenAborted = (league: League, { match_id }: EventOf<"match_aborted">): boolean =>
  (matchOf(league, match_id)?.aborts ?? 0) + 1 >= MAX_ABORTS;
