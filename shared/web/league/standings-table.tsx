import { type ComponentChildren, Fragment, type JSX, type RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import type { FormMark, LeagueHeader, StandingRow, TeamRow, TieBreakColumn } from "#shared/web/league-documents.ts";
import { matchPath } from "#shared/web/texts/league-texts.ts";

interface StandingsTableProps {
  readonly league: LeagueHeader;
  readonly rows: readonly StandingRow[];
  /** The columns after the form; null for a short table without them. */
  readonly details: {
    readonly tieBreaks: readonly TieBreakColumn[];
    readonly hasByes: boolean;
  } | null;
}

/** The standings of players. */
export function StandingsTable({ league, rows, details }: StandingsTableProps): JSX.Element {
  if (rows.length === 0) return <p class="empty">No player has entered this league yet.</p>;
  const hasForm = rows.some(({ form }) => form.length > 0);
  const headings = (
    <>
      {hasForm && <th scope="col">Last results</th>}
      <NumberHeadings headings={details ? ["Played", "Won", "Drawn", "Lost"] : ["Played"]} />
      {details?.hasByes && <NumberHeadings headings={["Byes"]} />}
      {details?.tieBreaks.map(({ id, heading, rule }) => (
        <th key={id} scope="col" class="n">
          <abbr title={rule}>{heading}</abbr>
        </th>
      ))}
    </>
  );
  return (
    <RankedTable label="Standings" competitor="Player" headings={headings}>
      {rows.map((row) => (
        <tr
          key={row.player_id}
          class={rowClass(row)}
          data-key={row.player_id}
          data-state={`${row.played} ${row.points}`}
        >
          <RankCell league={league} {...row} />
          <th scope="row">
            <PlayerName league={league} player={row} />
            <Presence presence={row.presence} />
          </th>
          <td class="n points">{row.points}</td>
          {hasForm && (
            <td>
              <Form league={league} marks={row.form} />
            </td>
          )}
          <td class="n">{row.played}</td>
          {details && <DetailCells row={row} {...details} />}
        </tr>
      ))}
    </RankedTable>
  );
}

function DetailCells({
  row,
  tieBreaks,
  hasByes,
}: NonNullable<StandingsTableProps["details"]> & { row: StandingRow }): JSX.Element {
  return (
    <>
      <td class="n">{row.wins}</td>
      <td class="n">{row.draws}</td>
      <td class="n">{row.losses}</td>
      {hasByes && <td class="n">{row.byes}</td>}
      {tieBreaks.map(({ id }, index) => (
        <td key={id} class="n">
          {row.tie_breaks[index] ?? "–"}
        </td>
      ))}
    </>
  );
}

/** What determines the order of the standings, if it is not the points. */
export const OrderText = ({ league }: { readonly league: Pick<LeagueHeader, "order"> }): JSX.Element | null =>
  league.order === "" ? null : <p class="order-text">{league.order}</p>;

/** The explanation of the columns of tie-breaks. */
export function TieBreakRules({ tieBreaks }: { readonly tieBreaks: readonly TieBreakColumn[] }): JSX.Element | null {
  if (tieBreaks.length === 0) return null;
  return (
    <details class="rules">
      <summary>What the columns mean</summary>
      <p>Players with equal points are ordered by these columns, from left to right.</p>
      <dl>
        {tieBreaks.map(({ id, heading, rule }) => (
          <div key={id}>
            <dt>{heading}</dt>
            <dd>{rule}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

interface TeamTableProps {
  readonly league: LeagueHeader;
  readonly teams: readonly TeamRow[];
}

/** The standings of teams. */
export function TeamTable({ league, teams }: TeamTableProps): JSX.Element {
  const headings = <NumberHeadings headings={["Played", "Won", "Drawn", "Lost"]} />;
  return (
    <RankedTable label="Standings of the teams" competitor="Team" headings={headings}>
      {teams.map((team) => (
        <tr
          key={team.team_id}
          class={rowClass(team)}
          data-key={team.team_id}
          data-state={`${team.played} ${team.points}`}
        >
          <RankCell league={league} {...team} />
          <th scope="row">
            {team.members.map((member, index) => (
              <Fragment key={member.player_id}>
                {index > 0 && " & "}
                <PlayerName league={league} player={member} />
              </Fragment>
            ))}
          </th>
          <td class="n points">{team.points}</td>
          <td class="n">{team.played}</td>
          <td class="n">{team.wins}</td>
          <td class="n">{team.draws}</td>
          <td class="n">{team.losses}</td>
        </tr>
      ))}
    </RankedTable>
  );
}

interface RankedTableProps {
  readonly label: string;
  /** The heading of the names: "Player" or "Team". */
  readonly competitor: string;
  /** The headings of the columns after the points. */
  readonly headings: ComponentChildren;
  /** The rows: each begins with a `RankCell`, the name and the points. */
  readonly children: ComponentChildren;
}

/** A table of ranks. Its rows move to their places after a change. On a narrow screen the columns after the points scroll. */
function RankedTable({ label, competitor, headings, children }: RankedTableProps): JSX.Element {
  const body = useRef<HTMLTableSectionElement>(null);
  useRowMotion(body);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="wide" tabIndex={0} aria-label={label}>
      <table class="data standings">
        <thead>
          <tr>
            <th scope="col" class="rank">
              <abbr title="Rank">#</abbr>
            </th>
            <th scope="col">{competitor}</th>
            <th scope="col" class="n points">
              Points
            </th>
            {headings}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </section>
  );
}

/** The class of a row: `leader` for each player or team of rank 1. Before its first match, a player does not lead. */
const rowClass = ({ rank, played }: Pick<StandingRow, "rank" | "played">): string =>
  rank === 1 && played > 0 ? "leader" : "";

interface RankProps extends Pick<StandingRow, "rank" | "movement"> {
  readonly league: Pick<LeagueHeader, "status">;
}

/** The rank and its change since the previous round. In final standings an unchanged rank has no mark: "=" would read as a shared rank. */
function RankCell({ league, rank, movement }: RankProps): JSX.Element {
  return (
    <td class="rank">
      {rank}
      <Movement by={league.status === "completed" && movement === 0 ? null : movement} />
    </td>
  );
}

function NumberHeadings({ headings }: { readonly headings: readonly string[] }): JSX.Element {
  return (
    <>
      {headings.map((heading) => (
        <th key={heading} scope="col" class="n">
          {heading}
        </th>
      ))}
    </>
  );
}

/** The number of places that a player has gained or lost, as a mark and in words. */
function Movement({ by }: { readonly by: number | null }): JSX.Element | null {
  if (by === null) return null;
  const places = Math.abs(by) === 1 ? "1 place" : `${Math.abs(by)} places`;
  const [name, mark, words] =
    by > 0
      ? ["up", `▲${by}`, `up ${places}`]
      : by < 0
        ? ["down", `▼${-by}`, `down ${places}`]
        : ["same", "=", "same place"];
  return (
    <span class={`move move-${name}`} title={`${words} since the previous round`}>
      <span aria-hidden="true">{mark}</span>
      <span class="unseen">{words}</span>
    </span>
  );
}

const RESULTS = {
  win: { letter: "W", text: "won" },
  draw: { letter: "D", text: "drawn" },
  loss: { letter: "L", text: "lost" },
} as const;

interface FormProps {
  readonly league: Pick<LeagueHeader, "league_id">;
  readonly marks: readonly FormMark[];
}

/** The last results of a player as links to the matches, the latest last. */
function Form({ league, marks }: FormProps): JSX.Element {
  return (
    <span class="form">
      {marks.map(({ match_id, result }) => {
        const { letter, text } = RESULTS[result];
        return (
          <a
            key={match_id}
            class={`form-mark form-${result}`}
            href={matchPath(league, match_id)}
            title={`${match_id}, ${text}`}
          >
            <span aria-hidden="true">{letter}</span>
            <span class="unseen">
              {match_id}, {text}
            </span>
          </a>
        );
      })}
    </span>
  );
}

const PRESENCE_TEXTS = {
  suspended: ["suspended", "The player did not answer in time."],
  shut_down: ["shut down", "The player did not answer in three matches in a row."],
  removed: ["removed", "The operator has removed the player."],
  left: ["left", "The player has left the league."],
} as const;

/** Marks a player that does not play. */
function Presence({ presence }: Pick<StandingRow, "presence">): JSX.Element | null {
  if (presence === "present") return null;
  const [text, title] = PRESENCE_TEXTS[presence];
  return (
    <span class="presence" title={title}>
      {text}
    </span>
  );
}

const MOVE_MS = 450;
const HIGHLIGHT_MS = 2_500;

/**
 * Moves the rows of a table from their former places to the new ones, and highlights rows that have changed. A row is an element with `data-key`; it
 * has changed if its `data-state` is another one. A reader who prefers reduced motion sees the highlight only.
 */
export function useRowMotion(body: RefObject<HTMLElement | null>): void {
  const before = useRef(new Map<string, { readonly top: number; readonly state: string }>());
  useLayoutEffect(() => {
    if (!body.current) return;
    const isReduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const origin = body.current.offsetTop;
    const rows = [...body.current.querySelectorAll<HTMLElement>("[data-key]")];
    const now = new Map(
      rows.map((row) => [row.dataset.key ?? "", { top: row.offsetTop - origin, state: stateOf(row) }]),
    );
    for (const row of rows) {
      const was = before.current.get(row.dataset.key ?? "");
      const is = now.get(row.dataset.key ?? "");
      if (!was || !is) continue;
      if (was.top !== is.top && !isReduced) move(row, was.top - is.top);
      if (was.state !== is.state) highlight(row);
    }
    before.current = now;
  });
}

const stateOf = (row: HTMLElement): string => row.dataset.state ?? "";

function move(row: HTMLElement, by: number): void {
  const frames = [{ transform: `translateY(${by}px)` }, { transform: "none" }];
  row.animate(frames, { duration: MOVE_MS, easing: "cubic-bezier(0.2, 0, 0, 1)" });
}

/** Each cell has a background, because the first ones stay in view while the others scroll below them. */
function highlight(row: HTMLElement): void {
  const color = getComputedStyle(row).getPropertyValue("--highlight");
  for (const cell of row.children) cell.animate([{ backgroundColor: color }, {}], { duration: HIGHLIGHT_MS });
}
