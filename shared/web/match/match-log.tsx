import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { spoken } from "../../games/game.ts";
import { counted } from "../../lib/text.ts";
import type { LeagueHeader } from "../documents/league.ts";
import type { LogDocument, LogEntry, LogOfMatch } from "../documents/match.ts";
import { matchPath } from "../texts/league-paths.ts";

interface MatchLogProps {
  readonly league: LeagueHeader;
  readonly matchId: string;
  readonly log: LogOfMatch;
}

/** A line that says whether the log is verified. It unfolds to what the server has verified, the files for download, and the entries of the log with their hashes. */
export function MatchLog({ league, matchId, log }: MatchLogProps): JSX.Element {
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
