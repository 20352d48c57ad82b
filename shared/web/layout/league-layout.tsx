import { type ComponentChildren, createContext, type JSX } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { counted } from "#shared/lib/text.ts";
import type { FactsOfGames } from "#shared/web/game-view.ts";
import { type LeagueHeader, type PageOf, SECTIONS, type Section } from "#shared/web/league-documents.ts";
import { LEAGUE_STATUS_TEXTS, leaguePath } from "#shared/web/texts/league-texts.ts";
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

interface ProjectorStageProps {
  /** Called after the last part was shown; by default the next page of the document follows. */
  readonly onEnd?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** The smallest size of a bracket. One that is larger than the stage is made smaller, because parts of it do not show who plays whom next. */
const SMALLEST = 0.2;
/** The time for which a part of a long page is shown. */
const PART_MS = 10_000;
/** The enlargements of a short page, which fill the stage. */
const ZOOMS = [1.75, 1.5, 1.25];
/** The rows and items of a page. Lists inside an item belong to it, and the moves of a match scroll by themselves. */
const ROWS = "tbody tr, li:not(li li, .match li)";

/** The content of a page on a projector. It shows a part of a long table after the other, each with complete rows. */
export function ProjectorStage({ onEnd, children }: ProjectorStageProps): JSX.Element {
  const stage = useRef<HTMLDivElement>(null);
  const nextPage = useContext(NextPage);
  const [isPaused, setPaused] = useState(false);
  const end = useRef(() => {});
  end.current = onEnd ?? nextPage;
  useLayoutEffect(() => {
    if (stage.current) enlarge(stage.current);
  });
  useEffect(() => {
    if (isPaused) return;
    const timer = setInterval(() => {
      if (!stage.current || showNextPart(stage.current)) return;
      end.current();
    }, PART_MS);
    const resize = (): void => {
      if (stage.current) enlarge(stage.current);
    };
    addEventListener("resize", resize);
    return () => {
      clearInterval(timer);
      removeEventListener("resize", resize);
    };
  }, [isPaused]);
  return (
    <>
      <div class="stage" ref={stage}>
        <div class="stage-content">{children}</div>
      </div>
      <button type="button" class="stage-pause" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
        Stop turning pages
      </button>
    </>
  );
}

/** Enlarges a page that fills only a part of the stage, for the readers in the last row. A longer one is shown in parts, and a bracket as a whole. */
function enlarge(stage: HTMLElement): void {
  const content = stage.firstElementChild as HTMLElement;
  const fits = (zoom: number): boolean => {
    content.style.zoom = String(zoom);
    return stage.scrollHeight <= stage.clientHeight && stage.scrollWidth <= stage.clientWidth;
  };
  // A chart and a match have the size of the stage.
  const hasOwnSize = stage.querySelector(".points-chart, .match") !== null;
  if (fits(1)) {
    if (!hasOwnSize && !ZOOMS.some(fits)) fits(1);
  } else if (stage.querySelector(".bracket")) {
    for (let percent = 95; percent >= SMALLEST * 100 && !fits(percent / 100); percent -= 5);
  }
  hideCutRows(stage);
}

/** The height of the head of a table, which stays in view. */
const headHeight = (stage: HTMLElement): number => stage.querySelector("thead")?.offsetHeight ?? 0;

/** Returns the first row that is below the shown part, at least in part; null if there is none. */
function firstHidden(stage: HTMLElement): Element | null {
  const bottom = stage.getBoundingClientRect().bottom;
  const rows = [...stage.querySelectorAll(ROWS)];
  return rows.find((row) => row.getBoundingClientRect().bottom > bottom + 1) ?? null;
}

/** Shows the columns or rows after the shown ones. Returns false after the last ones, and shows the first ones again. */
function showNextPart(stage: HTMLElement): boolean {
  const pinned = stage.querySelector<HTMLElement>("tbody th")?.getBoundingClientRect();
  const left = stage.scrollLeft;
  const width = stage.clientWidth - (pinned ? pinned.right - stage.getBoundingClientRect().left : 0);
  stage.scrollLeft += Math.max(width, stage.clientWidth / 3);
  if (stage.scrollLeft > left + 1) return true;
  stage.scrollLeft = 0;
  const row = firstHidden(stage);
  const top = stage.scrollTop;
  if (row) stage.scrollTop += row.getBoundingClientRect().top - stage.getBoundingClientRect().top - headHeight(stage);
  const isShown = stage.scrollTop > top + 1;
  if (!isShown) stage.scrollTop = 0;
  hideCutRows(stage);
  return isShown;
}

/** Hides the row that is visible in part at the lower end. The next part begins with it. */
function hideCutRows(stage: HTMLElement): void {
  const { top, bottom } = stage.getBoundingClientRect();
  const cut = firstHidden(stage)?.getBoundingClientRect();
  const isCut = cut !== undefined && cut.top < bottom && cut.top > top + headHeight(stage);
  stage.style.clipPath = isCut ? `inset(0 0 ${Math.ceil(bottom - cut.top) + 1}px 0)` : "";
}

/** Whether the page is for a projector or a wall: larger, without navigation, and changing by itself. */
export const isProjector = (): boolean => new URLSearchParams(location.search).has("projector");

/** Returns the address of the shown page with or without the form for projectors. */
export function projectorAddress(isOn: boolean): string {
  const query = new URLSearchParams(location.search);
  query.delete("page");
  query.delete("projector");
  const others = query.toString();
  const search = isOn ? ["projector", others].filter((text) => text !== "").join("&") : others;
  return location.pathname + (search === "" ? "" : `?${search}`);
}

/** Shows the next page of the document on a projector, after all rows of this one were shown. */
export const NextPage = createContext<() => void>(() => {});

interface PagesOfListProps extends PageOf {
  /** The parameter of the address, and the id of the list if the page has several ones. */
  readonly name?: string;
}

/** The links to the pages of a long list, for the address that is shown. */
export function PagesOfList({ page, pages, name }: PagesOfListProps): JSX.Element | null {
  if (pages === 1) return null;
  const near = [1, page - 1, page, page + 1, pages].filter(
    (number, index, all) => number >= 1 && number <= pages && all.indexOf(number) === index,
  );
  return (
    <nav class="pages" aria-label="Pages of the list">
      {near.map((number) => (
        <a key={number} href={addressOf(number, name)} aria-current={number === page ? "page" : undefined}>
          {number}
        </a>
      ))}
    </nav>
  );
}

function addressOf(page: number, name?: string): string {
  const query = new URLSearchParams(location.search);
  query.set(name ?? "page", String(page));
  return `${location.pathname}?${query}${name === undefined ? "" : `#${name}`}`;
}

/** The shortest time between two texts, so that screen readers finish one before the next. */
const INTERVAL_MS = 8_000;

/** A text that screen readers say when it changes. Of several changes within a short time they say the last one. */
export function LiveText({ text }: { readonly text: string }): JSX.Element {
  const first = useRef(text);
  const saidAt = useRef(-INTERVAL_MS);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (text === first.current) return;
    first.current = ""; // the text that the page began with is not said
    const say = (): void => {
      saidAt.current = performance.now();
      setSaid(text);
    };
    const timer = setTimeout(say, Math.max(0, saidAt.current + INTERVAL_MS - performance.now()));
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="unseen" aria-live="polite">
      {said}
    </p>
  );
}

/** The properties of every page of the manager: its document, and the fault of the connection or "". */
export interface PageProps<T> {
  readonly document: T;
  readonly problem: string;
  readonly games: FactsOfGames;
}
