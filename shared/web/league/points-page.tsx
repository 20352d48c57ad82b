import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { MAX_COLOURS, type PointsDocument, type PointsSeries } from "../documents/points.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { PlayerName } from "../layout/player-name.tsx";
import type { PageProps } from "./page-props.ts";
import { Marker, PointsChart } from "./points-chart.tsx";

/** The points of the players over the rounds. */
export function PointsPage({ document, problem }: PageProps<PointsDocument>): JSX.Element {
  const { league, positions } = document;
  return (
    <LeagueLayout league={league} section="points" problem={problem}>
      {positions.length < 2 ? <p>No match is completed yet.</p> : <Points document={document} />}
    </LeagueLayout>
  );
}

const PARAMETER = "players";

function Points({ document }: { readonly document: PointsDocument }): JSX.Element {
  const { league, series, unit, total } = document;
  const [requested, setRequested] = useState(() => requestedIn(location.search));
  const chosen = chosenOf(series, requested);
  const choose = (playerId: string, isChosen: boolean): void => {
    const ids = chosen.map(({ player_id }) => player_id).filter((id) => id !== playerId);
    const next = isChosen ? [...ids, playerId] : ids;
    setRequested(next);
    const query = new URLSearchParams(location.search);
    query.set(PARAMETER, next.join(","));
    history.replaceState(null, "", `${location.pathname}?${query}`);
  };
  return (
    <div class="points">
      <p class="points-note">
        {unit === "rounds" ? "Points after each round." : "Points after each match of a player."}
        {series.length < total && ` The first ${series.length} of ${total} players have lines.`}
      </p>
      <PointsChart document={document} chosen={chosen} />
      <fieldset class="points-choice">
        <legend>Players in colour, at most {MAX_COLOURS}</legend>
        <ul>
          {series.map((one) => {
            const index = chosen.indexOf(one);
            return (
              <li key={one.player_id}>
                <label>
                  <input
                    type="checkbox"
                    checked={index !== -1}
                    disabled={index === -1 && chosen.length >= MAX_COLOURS}
                    onChange={({ currentTarget }) => choose(one.player_id, currentTarget.checked)}
                  />
                  <svg class="points-sample" viewBox="0 0 32 12" aria-hidden="true">
                    <path class={index === -1 ? "series" : `series series-${index + 1}`} d="M0 6H32" />
                    {index !== -1 && <Marker index={index} x={16} y={6} />}
                  </svg>
                  <bdi>{one.name}</bdi>
                </label>
                <span class="n">{one.points}</span>
              </li>
            );
          })}
        </ul>
      </fieldset>
      <details class="points-table">
        <summary>As a table</summary>
        <PointsTable league={league} document={document} chosen={chosen} />
      </details>
    </div>
  );
}

/** The ids of players in a query; null without them. */
function requestedIn(query: string): readonly string[] | null {
  return new URLSearchParams(query).get(PARAMETER)?.split(",") ?? null;
}

/** The players that were chosen, or the first ones. */
const chosenOf = (series: readonly PointsSeries[], requested: readonly string[] | null): readonly PointsSeries[] =>
  (requested === null
    ? series
    : requested.flatMap((id) => series.find(({ player_id }) => player_id === id) ?? [])
  ).slice(0, MAX_COLOURS);

interface TableProps {
  readonly league: PointsDocument["league"];
  readonly document: PointsDocument;
  readonly chosen: readonly PointsSeries[];
}

function PointsTable({ league, document: { positions, unit }, chosen }: TableProps): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="wide" tabIndex={0} aria-label="Points of the chosen players">
      <table class="data">
        <thead>
          <tr>
            <th scope="col">{unit === "rounds" ? "Player, after round" : "Player, after match"}</th>
            {positions.map((position) => (
              <th key={position} scope="col" class="n">
                {position}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {chosen.map((one) => (
            <tr key={one.player_id}>
              <th scope="row">
                <PlayerName league={league} player={one} />
              </th>
              {positions.map((position, index) => (
                <td key={position} class="n">
                  {one.values[index] ?? ""}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
