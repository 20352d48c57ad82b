import { agentStates } from "#shared/protocol/lifecycle.ts";
import type { ManagerState } from "../agents/state.ts";
import { currentMatches, type League } from "../league/league.ts";
import { gauge, type MetricFamily, type Sample } from "./families.ts";

/** The metrics that follow from the state of the run, so that they are the same at each of its managers. `silent` are the referees that do not answer this one. */
export function stateFigures({ leagues, agents }: ManagerState, silent: readonly string[]): readonly MetricFamily[] {
  const all = [...leagues.values()];
  const referees = [...agents.values()].filter(({ kind, isRemoved }) => kind === "referee" && !isRemoved);
  const players = [...agents.values()].filter(({ kind }) => kind === "player");
  const occupied = (refereeId: string): number =>
    all.reduce((sum, league) => sum + (league.occupied.get(refereeId) ?? 0), 0);
  const byReferee = (value: (referee: (typeof referees)[number]) => number): readonly Sample[] =>
    referees.map((referee) => ({ labels: { referee: referee.id }, value: value(referee) }));
  return [
    gauge("league_leagues", "Leagues, by status.", countedBy("status", LEAGUE_STATUSES, all)),
    gauge("league_players", "Registered players, by state.", countedBy("state", agentStates, players)),
    gauge(
      "league_matches",
      "Matches of a league, by state: waiting for a referee (in open rounds only), running, or over.",
      all.flatMap(matchesOf),
    ),
    gauge(
      "league_referee_up",
      "1 if the referee answers the probes of this manager, else 0.",
      byReferee(({ id }) => (silent.includes(id) ? 0 : 1)),
    ),
    gauge(
      "league_referee_matches",
      "Matches that occupy the referee.",
      byReferee(({ id }) => occupied(id)),
    ),
    gauge(
      "league_referee_capacity",
      "Matches that the referee can have at the same time.",
      byReferee(({ maxConcurrent }) => maxConcurrent),
    ),
  ];
}

const LEAGUE_STATUSES = ["open", "running", "completed"] as const satisfies readonly League["status"][];

/** The number of items with each value of a field. */
const countedBy = <Field extends string, Value extends string>(
  field: Field,
  values: readonly Value[],
  items: readonly Readonly<Record<Field, Value>>[],
): readonly Sample[] =>
  values.map((value) => ({
    labels: { [field]: value },
    value: items.filter((item) => item[field] === value).length,
  }));

function matchesOf(league: League): readonly Sample[] {
  const states = { waiting: 0, running: 0, over: league.completedCount };
  for (const { status } of currentMatches(league)) {
    if (status === "scheduled") states.waiting += 1;
    else if (status === "assigned") states.running += 1;
  }
  return Object.entries(states).map(([state, value]) => ({ labels: { league: league.leagueId, state }, value }));
}
