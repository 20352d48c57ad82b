import type { ComponentChildren, JSX } from "preact";
import { type LeagueHeader, SECTIONS, type Section } from "../documents/league.ts";
import { leaguePath } from "../texts/league-paths.ts";

const SECTION_NAMES: Readonly<Record<Section, string>> = {
  standings: "Standings",
  schedule: "Schedule",
  crosstable: "Crosstable",
  bracket: "Bracket",
  ratings: "Ratings",
  points: "Points",
};

const STATUS_TEXTS: Readonly<Record<LeagueHeader["status"], string>> = {
  open: "Open for players",
  running: "Running",
  paused: "Paused",
  completed: "Completed",
};

interface Props {
  readonly league: LeagueHeader;
  /** The section that is shown: "" for the overview; null for a page that is no section. */
  readonly section: Section | "" | null;
  readonly problem: string;
  readonly children: ComponentChildren;
}

/** Whether the page is for a projector or a wall: larger, without navigation, and changing by itself. */
export const isProjector = (): boolean => new URLSearchParams(location.search).has("projector");

/** A page of a league: its name, state and progress, the navigation and the content. */
export function LeagueLayout({ league, section, problem, children }: Props): JSX.Element {
  return (
    <div class="site">
      <SiteHeader />
      <main class="league">
        <header class="league-head">
          <h1>
            <a href={leaguePath(league)}>
              <bdi>{league.league_id}</bdi>
            </a>
          </h1>
          <p class="league-facts">
            <span class={`badge badge-${league.status}`}>{STATUS_TEXTS[league.status]}</span>
            <span>{league.game_name}</span>
            {league.format !== "" && <span>{league.format}</span>}
            <span>{league.players === 1 ? "1 player" : `${league.players} players`}</span>
          </p>
          <Progress league={league} />
        </header>
        <SectionLinks league={league} section={section} />
        <p class="problem" role="status">
          {problem}
        </p>
        {children}
      </main>
    </div>
  );
}

/** The links from each page to all others. */
export function SiteHeader(): JSX.Element {
  return (
    <header class="site-head">
      <nav aria-label="Site">
        <a href="/leagues">Leagues</a>
        <a href="/play">Play</a>
      </nav>
    </header>
  );
}

function Progress({ league }: { readonly league: LeagueHeader }): JSX.Element | null {
  const { status, completed, matches, round, rounds, waiting } = league;
  if (status === "open") return waiting === "" ? null : <p class="league-progress">{waiting}.</p>;
  const total = status === "completed" ? completed : matches;
  const count = total === null ? `${completed} matches played` : `${completed} of ${total} matches`;
  const text = round === null ? count : `Round ${round} of ${rounds} · ${count}`;
  return (
    <p class="league-progress">
      {total !== null && total > 0 && <progress value={completed} max={total} aria-label="Progress of the league" />}
      <span>{text}</span>
    </p>
  );
}

function SectionLinks({ league, section }: Pick<Props, "league" | "section">): JSX.Element {
  const shown = SECTIONS.filter((one) => league.sections.includes(one));
  return (
    <nav class="sections" aria-label="Sections of the league">
      <a href={leaguePath(league)} aria-current={section === "" ? "page" : undefined}>
        Overview
      </a>
      {shown.map((one) => (
        <a key={one} href={leaguePath(league, one)} aria-current={section === one ? "page" : undefined}>
          {SECTION_NAMES[one]}
        </a>
      ))}
    </nav>
  );
}
