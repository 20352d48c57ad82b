import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { LeagueHeader, MatchRow } from "../documents/league.ts";
import { useRowMotion } from "../standings/use-row-motion.ts";
import { restartInWords } from "../texts/game-texts.ts";
import { matchPath } from "../texts/league-paths.ts";

interface MatchListProps {
  readonly league: LeagueHeader;
  readonly matches: readonly MatchRow[];
}

/** Matches as links to their pages, with their results. */
export function MatchList({ league, matches }: MatchListProps): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  useRowMotion(list);
  return (
    <ul class="match-list" ref={list}>
      {matches.map((match) => (
        <li key={match.match_id} data-key={match.match_id} data-state={match.result ?? ""}>
          <a href={matchPath(league, match.match_id)}>
            <span class="match-id">{match.match_id}</span>
            <span class="match-players">
              {match.players.map(({ player_id, name, points }) => (
                <span key={player_id} class={points === 3 ? "won" : ""}>
                  <bdi>{name}</bdi>
                  {points !== null && <span class="score">{points}</span>}
                </span>
              ))}
            </span>
            {match.reason !== null && <span class="match-reason">{match.reason}</span>}
            {match.result === null && match.restart && (
              <span class="match-reason">{restartInWords(match.restart)}</span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}
