import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { LeagueLayout, type PageProps } from "#shared/web/layout/league-layout.tsx";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import { MAX_COLOURS, type PointsDocument, type PointsSeries } from "#shared/web/league-documents.ts";

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

interface Props {
  readonly document: PointsDocument;
  /** The players in colour. */
  readonly chosen: readonly PointsSeries[];
}

/** The space around the lines, in pixels at a text size of 16 pixels. */
const LEFT = 44;
const BOTTOM = 40;
const TOP = 12;
const RIGHT = 16;
/** The space for the names at the ends of the lines, in a wide chart. */
const NAMES = 160;
const WIDE = 700;

/** A line chart. Its size follows the window, so that texts keep their size. */
function PointsChart({ document, chosen }: Props): JSX.Element {
  const { positions, series, unit } = document;
  const box = useRef<HTMLDivElement>(null);
  const size = textSize();
  // All lengths are in units of the text size, so that a projector shows the same chart.
  const width = useWidth(box) / size;
  const height = Math.max(260, Math.min(460, width * 0.6));
  const right = width >= WIDE ? NAMES : RIGHT;
  const most = series.reduce((max, { values }) => Math.max(max, ...values), 1);
  const last = positions.at(-1) ?? 1;
  const x = (position: number): number => LEFT + ((width - LEFT - right) * position) / last;
  const y = (points: number): number => height - BOTTOM - ((height - BOTTOM - TOP) * points) / most;
  const line = ({ values }: PointsSeries): string =>
    values
      .map((value, index) => `${index === 0 ? "M" : "L"}${x(positions[index] ?? 0).toFixed(1)} ${y(value).toFixed(1)}`)
      .join("");
  const names = endLabels(chosen, y);
  const lead = chosen.map(({ name, points }) => `${name} ${points}`).join(", ");
  return (
    <div ref={box} class="points-chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width * size}
        height={height * size}
        role="img"
        aria-label={`Points over the ${unit}: ${lead}`}
      >
        {ticks(most, height / 50).map((value) => (
          <g key={value}>
            <path class="rule" d={`M${LEFT} ${y(value)}H${width - right}`} />
            <text x={LEFT - 8} y={y(value)} class="value">
              {value}
            </text>
          </g>
        ))}
        {ticks(last, (width - LEFT - right) / 60).map((value) => (
          <text key={value} x={x(value)} y={height - BOTTOM + 18} class="position">
            {value}
          </text>
        ))}
        <text x={LEFT + (width - LEFT - right) / 2} y={height - 4} class="position">
          {unit === "rounds" ? "Round" : "Matches played"}
        </text>
        {series
          .filter((one) => !chosen.includes(one))
          .map((one) => (
            <path key={one.player_id} class="series" d={line(one)} />
          ))}
        {chosen.map((one, index) => (
          <g key={one.player_id}>
            <path class={`series series-${index + 1}`} d={line(one)} />
            {markedOf(one.values.length, index).map((at) => (
              <Marker key={at} index={index} x={x(positions[at] ?? 0)} y={y(one.values[at] ?? 0)} />
            ))}
            {width >= WIDE && (
              <text x={x(positions[one.values.length - 1] ?? 0) + 10} y={names[index]} class={`name name-${index + 1}`}>
                {shortened(one.name)}
              </text>
            )}
          </g>
        ))}
      </svg>
    </div>
  );
}

/** The text size of the page in units of 16 pixels. */
const textSize = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1;

/** The width of an element in pixels. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(320);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.max(240, entry.contentRect.width)));
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** The indexes of the values that have a marker: about six and the last one. Lines that share their values have markers at different places. */
function markedOf(length: number, series: number): readonly number[] {
  const step = Math.max(1, Math.round(length / 6));
  const first = Math.min(length - 1, Math.max(1, Math.round((step * series) / 6)));
  const inner = Array.from({ length }, (_, index) => index).filter(
    (index) => index > 0 && index % step === first % step,
  );
  return [...new Set([...inner, length - 1])];
}

/** The heights of the names at the ends of the lines, moved apart so that they do not cover each other. */
function endLabels(chosen: readonly PointsSeries[], y: (points: number) => number): readonly number[] {
  const LINE = 16;
  const order = chosen
    .map(({ values }, index) => ({ index, at: y(values.at(-1) ?? 0) }))
    .sort((one, other) => one.at - other.at);
  const heights: number[] = [];
  let next = 0;
  for (const { index, at } of order) {
    heights[index] = Math.max(at, next);
    next = Math.max(at, next) + LINE;
  }
  return heights;
}

const MAX_NAME = 15;
const shortened = (name: string): string => {
  const characters = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment);
  return characters.length <= MAX_NAME ? name : `${characters.slice(0, MAX_NAME - 1).join("")}…`;
};

/** The marker of a line. Each line has a different marker, for readers who do not see the colours. */
function Marker({ index, x, y }: { readonly index: number; readonly x: number; readonly y: number }): JSX.Element {
  const shape = SHAPES[index % SHAPES.length] as string;
  return <path class={`marker marker-${index + 1}`} d={shape} transform={`translate(${x} ${y})`} />;
}

/** A circle, a square, a triangle, a diamond, a triangle upside down and a cross. */
const SHAPES = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
  "M-3.5 -3.5h7v7h-7Z",
  "M0 -4.5L4.5 3.5H-4.5Z",
  "M0 -5L5 0L0 5L-5 0Z",
  "M0 4.5L4.5 -3.5H-4.5Z",
  "M-4.5 -1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3Z",
];

/** Returns round values from 0 to `most` for the marks of an axis, about `count` of them. All are whole numbers. */
function ticks(most: number, count: number): readonly number[] {
  const rough = most / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = Math.max(1, [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? 10 * power);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}
