import type { JSX } from "preact";
import type { MatchDocument } from "../documents/match.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { PlayerName } from "../layout/player-name.tsx";
import { TextWithNames } from "../layout/text-with-names.tsx";
import { Faults } from "../match/faults.tsx";
import { MatchLog } from "../match/match-log.tsx";
import { MatchSteps } from "../match/match-steps.tsx";
import { useFrames } from "../match/use-frames.ts";
import { reachableFrom } from "../site-links.ts";
import { restartInWords } from "../texts/game-texts.ts";
import { leaguePath, matchPath } from "../texts/league-paths.ts";
import { MATCH_STATUS_TEXTS } from "../texts/status-texts.ts";
import type { PageProps } from "./page-props.ts";

/** A match: its players, the board with all steps, the faults and the log. It is live while the match is played. */
export function MatchPage({ document, problem, games }: PageProps<MatchDocument>): JSX.Element {
  const { league, match, game, faults, log } = document;
  const frames = useFrames(document, `/api${matchPath(league, match.match_id)}`);
  const hasBoard = game !== null && frames.length > 0;
  const seatOf = (role: string): JSX.Element | null => {
    const player = match.players[game?.roles.indexOf(role) ?? -1];
    return player ? <Player league={league} player={player} /> : null;
  };
  return (
    <LeagueLayout league={league} section={null} problem={problem}>
      <article class="match">
        <Head document={document} hasBoard={hasBoard} />
        <p class="match-problem" role="status">
          {document.problem}
        </p>
        {hasBoard ? (
          <MatchSteps key={game.game_id} game={game} frames={frames} facts={games[game.template]} player={seatOf} />
        ) : (
          <p class="match-empty">{emptyText(document)}</p>
        )}
        <Faults league={league} faults={faults} />
        {log && <MatchLog league={league} matchId={match.match_id} log={log} />}
      </article>
    </LeagueLayout>
  );
}

interface HeadProps extends Pick<PageProps<MatchDocument>, "document"> {
  readonly hasBoard: boolean;
}

/** The facts about a match. With a board the players are named at the board. */
function Head({ document: { league, match, game, referee_pages }, hasBoard }: HeadProps): JSX.Element {
  const { match_id, round_id, round_label, status, referee, restart, clock, players, result } = match;
  const pages = game && referee_pages !== null ? reachableFrom(location.hostname, [referee_pages]) : null;
  return (
    <header class="match-head">
      <h2>
        Match {match_id}
        <span class={`badge match-${status}`}>{MATCH_STATUS_TEXTS[status]}</span>
      </h2>
      <p class="match-facts">
        <a href={`${leaguePath(league, "schedule")}?round=${round_id}`}>
          Round {round_id}
          {round_label !== null && ` (${round_label})`}
        </a>
        {referee !== null && (
          <span>
            {!/^referee\b/i.test(referee) && "Referee "}
            <bdi>{referee}</bdi>
            {pages !== null && (
              <>
                {" "}
                (<a href={`${pages}/game/${encodeURIComponent(game?.game_id ?? "")}`}>board at the referee</a>)
              </>
            )}
          </span>
        )}
        {clock && <span>{clockText(clock)}</span>}
        {restart !== null && <span class="restart">{restartInWords(restart)}</span>}
      </p>
      {!hasBoard && (
        <ul class="players">
          {players.map((player) => (
            <li key={player.role}>
              <strong>{player.role}</strong> <Player league={league} player={player} />
            </li>
          ))}
        </ul>
      )}
      <p class="match-result" aria-live="polite">
        {result !== null && <TextWithNames text={result} names={players.map(({ name }) => name)} />}
      </p>
    </header>
  );
}

interface PlayerProps {
  readonly league: MatchDocument["league"];
  readonly player: MatchDocument["match"]["players"][number];
}

/** The name and the points of a player. */
const Player = ({ league, player }: PlayerProps): JSX.Element => (
  <>
    <PlayerName league={league} player={player} />
    {player.points !== null && <span class="match-points"> {pointsText(player.points)}</span>}
  </>
);

const pointsText = (points: number): string => (points === 1 ? "1 point" : `${points} points`);

const clockText = ({ initial_ms, increment_ms }: NonNullable<MatchDocument["match"]["clock"]>): string =>
  `Clock ${initial_ms / 1000} s${increment_ms > 0 ? ` + ${increment_ms / 1000} s for each move` : ""}`;

function emptyText({ match, source, problem }: MatchDocument): string {
  if (problem !== "") return "";
  if (match.status === "scheduled") return "The board appears when the match begins.";
  if (source === "referee") return "Connecting to the referee of the match…";
  return "This match has no log and therefore no board.";
}
