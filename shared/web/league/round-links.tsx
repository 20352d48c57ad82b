import type { JSX } from "preact";
import type { LeagueHeader } from "../documents/league.ts";
import type { RoundRef, ScheduleDocument } from "../documents/schedule.ts";
import { leaguePath } from "../texts/league-paths.ts";

const roundPath = (league: LeagueHeader, roundId: number): string => leaguePath(league, `schedule?round=${roundId}`);

/** The links to the other rounds: the neighbours, the current one, and the list of all. */
export function RoundLinks({ document }: { readonly document: ScheduleDocument }): JSX.Element | null {
  const { league, round, rounds, last_round, current_round, has_all } = document;
  const shown = round?.round_id ?? null;
  if (last_round <= 1 && !has_all) return null;
  const step = (text: string, name: string, to: number, isPossible: boolean): JSX.Element =>
    isPossible ? (
      <a href={roundPath(league, to)} aria-label={name}>
        {text}
      </a>
    ) : (
      <span aria-hidden="true">{text}</span>
    );
  return (
    <nav class="schedule-rounds" aria-label="Rounds">
      {shown !== null && step("«", "First round", 1, shown > 1)}
      {shown !== null && step("‹", "Previous round", shown - 1, shown > 1)}
      <a href={leaguePath(league, "schedule")} aria-current={isFollowing() ? "page" : undefined}>
        {has_all ? "All matches" : league.status === "completed" ? "Last round" : `Current: ${current_round}`}
      </a>
      {shown !== null && step("›", "Next round", shown + 1, shown < last_round)}
      {shown !== null && step("»", "Last round", last_round, shown < last_round)}
      <details class="schedule-rounds-list">
        <summary>All rounds</summary>
        <ol>
          {rounds.map((one) => (
            <li key={one.round_id}>
              <a href={roundPath(league, one.round_id)} aria-current={one.round_id === shown ? "true" : undefined}>
                {one.label === "" ? `Round ${one.round_id}` : `${one.round_id}: ${one.label}`}
                <small>{ROUND_STATES[one.state]}</small>
              </a>
            </li>
          ))}
        </ol>
      </details>
    </nav>
  );
}

const ROUND_STATES: Readonly<Record<RoundRef["state"], string>> = {
  waiting: "not started",
  playing: "being played",
  completed: "completed",
};

/** Whether the page follows the current round: its address names none. */
const isFollowing = (): boolean => !new URLSearchParams(location.search).has("round");
