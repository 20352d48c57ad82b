import type { JSX } from "preact";
import type { PlayerDocument, PlayerMatchRow } from "../documents/player.ts";
import { PagesOfList } from "../layout/pages-of-list.tsx";
import { PlayerName, PlayerNames } from "../layout/player-name.tsx";
import { leaguePath, matchPath } from "../texts/league-paths.ts";
import { MARKS } from "../texts/marks.ts";
import { MATCH_STATUS_TEXTS } from "../texts/status-texts.ts";
import { durationInWords, visibleText } from "../texts/visible-text.ts";

interface Props {
  readonly document: PlayerDocument;
}

/** The results against each opponent. */
export function OpponentsOfPlayer({ document }: Props): JSX.Element | null {
  const { league, opponents, further_opponents } = document;
  if (opponents.length === 0) return null;
  return (
    <section>
      <h3>Opponents</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div class="wide" tabIndex={0} role="region" aria-label="Results against each opponent">
        <table class="data player-opponents">
          <thead>
            <tr>
              <th scope="col">Opponent</th>
              {["Won", "Drawn", "Lost"].map((heading) => (
                <th key={heading} scope="col" class="n">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {opponents.map((row) => (
              <tr key={row.player_id}>
                <th scope="row">
                  <PlayerName league={league} player={row} />
                </th>
                {[row.wins, row.draws, row.losses].map((value, index) => (
                  <td key={index} class={value === 0 ? "n zero" : "n"}>
                    {value}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {further_opponents > 0 && (
        <p class="more">
          {further_opponents === 1 ? "1 further opponent" : `${further_opponents} further opponents`}:{" "}
          <a href={leaguePath(league, "crosstable")}>Crosstable</a>
        </p>
      )}
    </section>
  );
}

/** The matches of the player: those that are played, the completed ones from the last to the first, then the next ones. */
export function MatchesOfPlayer({ document }: Props): JSX.Element {
  const { rows } = document;
  return (
    <section>
      <h3>Matches</h3>
      {rows.length === 0 ? <p class="empty">No match is paired yet.</p> : <Matches document={document} />}
      <PagesOfList {...document} />
    </section>
  );
}

function Matches({ document: { league, rows } }: Props): JSX.Element {
  const hasTimes = rows.some(({ answers }) => answers !== null);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div class="wide" tabIndex={0} role="region" aria-label="Matches of the player">
      <table class="data player-matches">
        <thead>
          <tr>
            <th scope="col">Result</th>
            <th scope="col">Opponent</th>
            <th scope="col">Match</th>
            <th scope="col" class="role">
              Role
            </th>
            <th scope="col">How it ended</th>
            {hasTimes && (
              <th scope="col" class="n">
                Median, slowest answer
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.match_id}>
              <td>
                <Result row={row} />
              </td>
              <th scope="row">
                <PlayerNames league={league} players={row.opponents} />
                {row.partners.length > 0 && (
                  <span class="partners">
                    with <PlayerNames league={league} players={row.partners} />
                  </span>
                )}
              </th>
              <td>
                <a href={matchPath(league, row.match_id)}>{row.match_id}</a>
              </td>
              <td class="role">{row.role}</td>
              <td class={row.is_own_fault ? "reason own-fault" : "reason"}>{visibleText(row.reason)}</td>
              {hasTimes && (
                <td class="n">
                  {row.answers && `${durationInWords(row.answers.median_ms)}, ${durationInWords(row.answers.max_ms)}`}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Result({ row: { mark, status } }: { readonly row: PlayerMatchRow }): JSX.Element {
  if (mark === null) return <span class="player-next">{MATCH_STATUS_TEXTS[status]}</span>;
  return (
    <span class={`player-mark mark-${mark}`}>
      <span aria-hidden="true">{MARKS[mark].letter}</span>
      <span class="unseen">{MARKS[mark].text}</span>
    </span>
  );
}
