import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { spoken } from "#shared/games/game.ts";
import { counted, escapeUnprintable } from "#shared/lib/text.ts";
import type { Frame } from "#shared/web/game-view.ts";
import { LeagueLayout, type PageProps } from "#shared/web/layout/league-layout.tsx";
import { PlayerName, TextWithNames } from "#shared/web/layout/player-name.tsx";
import type {
  FaultOfMatch,
  FramesDocument,
  LeagueHeader,
  LogDocument,
  LogEntry,
  LogOfMatch,
  MatchDocument,
} from "#shared/web/league-documents.ts";
import { MatchSteps } from "#shared/web/match/match-steps.tsx";
import { reachableFrom } from "#shared/web/site-links.ts";
import { restartInWords } from "#shared/web/texts/game-texts.ts";
import { leaguePath, MATCH_STATUS_TEXTS, matchPath, visibleText } from "#shared/web/texts/league-texts.ts";

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

interface MatchLogProps {
  readonly league: LeagueHeader;
  readonly matchId: string;
  readonly log: LogOfMatch;
}

/** A line that says whether the log is verified. It unfolds to what the server has verified, the files for download, and the entries of the log with their hashes. */
function MatchLog({ league, matchId, log }: MatchLogProps): JSX.Element {
  const path = matchPath(league, matchId);
  const [isOpen, open] = useState(false);
  return (
    <section class="match-log">
      <details onToggle={(event) => open(event.currentTarget.open)}>
        <summary class={log.is_proven ? "" : "unproven"}>
          {log.is_proven ? "Log: verified" : "Log: not verified"}, {counted(log.entries, "entry", "entries")}
        </summary>
        <p class={log.is_proven ? "proven" : "unproven"}>{log.verified}</p>
        <p>{log.unverified}</p>
        <p class="match-files">
          <a href={`${path}/log.jsonl`} download>
            Download the log (JSON Lines)
          </a>
          {log.has_pgn && (
            <a href={`${path}/game.pgn`} download>
              Download the game (PGN)
            </a>
          )}
        </p>
        <p>
          Hash of the last entry: <code>{log.head}</code>
        </p>
        {isOpen && <Entries path={`/api${path}/log`} />}
      </details>
    </section>
  );
}

function Entries({ path }: { readonly path: string }): JSX.Element {
  const [page, show] = useState(1);
  const [log, setLog] = useState<LogDocument | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    fetch(`${path}?page=${page}`, { signal: stop.signal })
      .then(async (response) => {
        if (!response.ok) throw new Error(String(response.status));
        setLog((await response.json()) as LogDocument);
        setProblem("");
      })
      .catch(() => {
        if (!stop.signal.aborted) setProblem("The log could not be loaded. Close and open this part to try again.");
      });
    return () => stop.abort();
  }, [path, page]);
  if (!log) return <p role="status">{problem || "Loading the log…"}</p>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by the keyboard */}
      <div class="wide" role="region" aria-label="Entries of the log" tabIndex={0}>
        <table class="grid">
          <thead>
            <tr>
              <th scope="col" class="n">
                #
              </th>
              <th scope="col">Entry</th>
              <th scope="col">Time</th>
              <th scope="col">SHA-256</th>
            </tr>
          </thead>
          <tbody>
            {log.entries.map((entry) => (
              <tr key={entry.seq}>
                <td class="n">{entry.seq}</td>
                <td>{entryText(entry)}</td>
                <td>
                  <time dateTime={entry.at}>{new Date(entry.at).toLocaleTimeString()}</time>
                </td>
                <td>
                  <code>{entry.hash}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {log.pages > 1 && (
        <p class="match-files">
          <button type="button" disabled={page === 1} onClick={() => show(page - 1)}>
            Earlier entries
          </button>
          <span>
            Page {log.page} of {log.pages}
          </span>
          <button type="button" disabled={page === log.pages} onClick={() => show(page + 1)}>
            Later entries
          </button>
        </p>
      )}
      <p role="status">{problem}</p>
    </>
  );
}

const TYPES: Readonly<Record<string, string>> = {
  created: "Start",
  forfeited: "Forfeit",
  aborted: "Abort",
  expired: "Expired",
};

const entryText = ({ type, role }: LogEntry): string =>
  role === null ? (TYPES[type] ?? spoken(type)) : `Move of ${spoken(role)}`;

interface FaultsProps {
  readonly league: LeagueHeader;
  readonly faults: readonly FaultOfMatch[];
}

/** Why players lost by forfeit, with the answers that they have sent. */
function Faults({ league, faults }: FaultsProps): JSX.Element | null {
  if (faults.length === 0) return null;
  return (
    <section class="match-faults">
      <h2>Forfeit</h2>
      {faults.map((fault) => (
        <div key={fault.player_id}>
          <h3>
            <PlayerName league={league} player={fault} /> ({fault.role}): {fault.cause}
          </h3>
          <p dir="auto">{escapeUnprintable(fault.detail)}</p>
          {fault.raw !== null && (
            <>
              <p>The answer of the player, as the referee received it:</p>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by the keyboard */}
              <pre tabIndex={0} role="region" aria-label="Answer of the player">
                {visibleText(fault.raw)}
              </pre>
            </>
          )}
        </div>
      ))}
    </section>
  );
}

interface Known {
  session: string;
  frames: (Frame | undefined)[];
  isFetching: boolean;
}

const RETRY_MS = 2_000;

/**
 * Returns the frames of a match. The document has the last one; missing ones are fetched, so that there is neither a gap nor a double. A frame that is
 * not loaded yet is undefined. `path` is the path of the document.
 */
function useFrames({ game, current }: Pick<MatchDocument, "game" | "current">, path: string) {
  const known = useRef<Known>({ session: "", frames: [], isFetching: false });
  const [, redraw] = useState(0);
  const session = game?.game_id ?? "";
  if (known.current.session !== session) known.current = { session, frames: [], isFetching: false };
  const { frames } = known.current;
  if (current) {
    // The first frame changes when the players have joined.
    if (current.index > 0 && frames[0]?.status === "waiting_for_players") frames[0] = undefined;
    // Without holes, which list methods skip.
    while (frames.length <= current.index) frames.push(undefined);
    frames.length = current.index + 1;
    frames[current.index] = current.frame;
  }
  const [attempt, retry] = useState(0);
  useEffect(() => {
    const mine = known.current;
    if (mine.isFetching || missingIn(mine.frames) < 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    mine.isFetching = true;
    fetchMissing(mine, path, () => mine === known.current && redraw((count) => count + 1))
      .catch(() => {
        timer = setTimeout(() => retry((count) => count + 1), RETRY_MS);
      })
      .finally(() => {
        mine.isFetching = false;
      });
    return () => clearTimeout(timer);
  }, [session, current?.index, path, attempt]);
  return frames as readonly (Frame | undefined)[];
}

const missingIn = (frames: Known["frames"]): number => frames.indexOf(undefined);

/** Fetches the missing frames in order. Calls `changed` after each answer. */
async function fetchMissing(known: Known, path: string, changed: () => void): Promise<void> {
  for (let from = missingIn(known.frames); from >= 0; from = missingIn(known.frames)) {
    const response = await fetch(`${path}/frames?from=${from}`, { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(`${response.status}`);
    const answer = (await response.json()) as FramesDocument;
    // The match is played again, and the page receives the new session as its document.
    if (answer.session !== known.session || answer.frames.length === 0) throw new Error("the frames have changed");
    for (const [offset, frame] of answer.frames.entries()) {
      if (from + offset < known.frames.length) known.frames[from + offset] ??= frame;
    }
    changed();
  }
}
