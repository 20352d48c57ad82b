import type { ComponentChildren, JSX } from "preact";
import { counted } from "../../lib/text.ts";
import { type LeagueHeader, SECTIONS, type Section } from "../documents/league.ts";
import { leaguePath } from "../texts/league-paths.ts";
import { LEAGUE_STATUS_TEXTS } from "../texts/status-texts.ts";
import { isProjector, projectorAddress } from "./projector.ts";
import { ProjectorStage } from "./projector-stage.tsx";
import { SiteHeader } from "./site-header.tsx";
import { DateAndTime } from "./time.tsx";

const SECTION_NAMES: Readonly<Record<Section, string>> = {
  standings: "Standings",
  schedule: "Schedule",
  crosstable: "Crosstable",
  bracket: "Bracket",
  ratings: "Ratings",
  points: "Points",
};

interface LeagueLayoutProps {
  readonly league: LeagueHeader;
  /** The section that is shown: "" for the overview; null for a page that is no section. */
  readonly section: Section | "" | null;
  readonly problem: string;
  readonly children: ComponentChildren;
  /** On a projector: called when everything was shown; by default the next page of the document follows. */
  readonly onShown?: (() => void) | undefined;
}

/** A page of a league: its name, state and progress, the navigation and the content. */
export function LeagueLayout(props: LeagueLayoutProps): JSX.Element {
  if (isProjector()) return <ProjectorLayout {...props} />;
  const { league, section, problem, children } = props;
  return (
    <div class="site">
      <SiteHeader part="leagues" projector={projectorAddress(true)} />
      <main class="league">
        <LeagueHead league={league} />
        <SectionLinks league={league} section={section} />
        <p class="problem" role="status">
          {problem}
        </p>
        {children}
        {location.pathname !== leaguePath(league, "operator") && (
          <footer class="league-foot">
            <a href={leaguePath(league, "operator")}>Operator</a>
          </footer>
        )}
      </main>
    </div>
  );
}

/** The page for a projector: without navigation. */
function ProjectorLayout({ league, problem, children, onShown }: LeagueLayoutProps): JSX.Element {
  return (
    <main class="site league projector">
      <LeagueHead league={league} />
      <p class="problem" role="status">
        {problem}
      </p>
      <ProjectorStage onEnd={onShown}>{children}</ProjectorStage>
      <ProjectorFoot path={leaguePath(league)} />
    </main>
  );
}

/** The address that spectators type, and the way back. */
export const ProjectorFoot = ({ path }: { readonly path: string }): JSX.Element => (
  <footer class="projector-foot">
    <span>{location.host + path}</span>
    <a href={projectorAddress(false)}>Leave projector view</a>
  </footer>
);

function LeagueHead({ league }: Pick<LeagueLayoutProps, "league">): JSX.Element {
  return (
    <header class="league-head">
      <div>
        <h1>
          <a class="league-name" href={leaguePath(league)}>
            <bdi>{league.league_id}</bdi>
          </a>
        </h1>
        <p class="league-facts">
          <StatusBadge status={league.status} /> {leagueFacts(league)}
        </p>
      </div>
      <Progress league={league} />
    </header>
  );
}

/** The game, the format and the players of a league. An open league that waits for players says how many there are. */
export function leagueFacts({ game_name, format, players, departed, waiting }: LeagueHeader): string {
  const gone = departed === 0 ? "" : ` (${departed} no longer playing)`;
  const facts = [game_name, format, waiting === "" ? `${counted(players, "player")}${gone}` : ""];
  return facts.filter((text) => text !== "").join(" · ");
}

export function StatusBadge({ status }: Pick<LeagueHeader, "status">): JSX.Element {
  return <span class={`badge badge-${status}`}>{LEAGUE_STATUS_TEXTS[status]}</span>;
}

/** The part of a league that is played, or what it waits for. */
export function Progress({ league }: Pick<LeagueLayoutProps, "league">): JSX.Element | null {
  const { status, completed, matches, round, planned_rounds, waiting, starts_at, round_ends_at } = league;
  if (status === "open") {
    return (
      <p class="league-progress">
        {waiting === "" ? "The operator starts the league." : `${waiting}.`}
        {starts_at !== null && (
          <>
            {" "}
            It does not start before <DateAndTime iso={starts_at} />.
          </>
        )}
      </p>
    );
  }
  const total = status === "completed" ? completed : matches;
  const count =
    total === null
      ? `${counted(completed, "match", "matches")} played`
      : `${completed} of ${counted(total, "match", "matches")}`;
  const text = status === "completed" ? counted(completed, "match", "matches") : count;
  return (
    <div class="league-progress">
      {round === null ? text : `Round ${round}${planned_rounds === null ? "" : ` of ${planned_rounds}`} · ${text}`}
      {round_ends_at !== null && (
        <>
          {" "}
          · ends at <DateAndTime iso={round_ends_at} />
        </>
      )}
      {total !== null && total > 0 && <progress value={completed} max={total} aria-label="Progress of the league" />}
    </div>
  );
}

function SectionLinks({ league, section }: Pick<LeagueLayoutProps, "league" | "section">): JSX.Element {
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
