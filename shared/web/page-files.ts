import type { BoardKind } from "#shared/games/game.ts";
import type { FactsOfGames } from "./game-view.ts";

/** The pages of leagues. */
export type LeaguePage =
  | "leagues"
  | "overview"
  | "standings"
  | "player"
  | "crosstable"
  | "schedule"
  | "bracket"
  | "ratings"
  | "points"
  | "match"
  | "operator";

/** The kinds of pages: those of leagues, the list of games, a game, and the page on which a person plays in a league. */
export type PageKind = LeaguePage | "games" | "game" | "play";

/** The files of a kind of page besides those of all pages. Paths are relative to this folder. */
interface PageFiles {
  /** The entry in `site/`. */
  readonly entry: string;
  /** The module that the entry imports for this kind of page. */
  readonly module?: string;
  readonly styles: readonly string[];
  /** Whether the page shows the board of a game. */
  readonly hasBoard?: true;
}

/** The style of all pages. */
export const BASE_STYLE = "styles/base.css";

const leaguePage = (module: string, ...styles: readonly string[]): PageFiles => ({
  entry: "site/leagues-main.tsx",
  module,
  styles: ["projector", ...styles].map((name) => `styles/league/${name}.css`),
});

/** The style of the moves of a game. */
const STEPS_STYLE = "styles/boards/steps.css";

const matchPage = leaguePage("league/match-page.tsx", "match");

/** The files of each kind of page. */
export const PAGE_FILES: Readonly<Record<PageKind, PageFiles>> = {
  leagues: leaguePage("league/leagues-page.tsx", "overview"),
  overview: leaguePage("league/overview-page.tsx", "standings", "overview", "winners"),
  standings: leaguePage("league/standings-page.tsx", "standings"),
  player: leaguePage("league/player-page.tsx", "player", "intervals"),
  crosstable: leaguePage("league/crosstable-page.tsx", "crosstable"),
  schedule: leaguePage("league/schedule-page.tsx", "schedule"),
  bracket: leaguePage("league/bracket-page.tsx", "bracket", "winners"),
  ratings: leaguePage("league/ratings-page.tsx", "intervals", "charts"),
  points: leaguePage("league/points-page.tsx", "charts"),
  match: { ...matchPage, styles: [STEPS_STYLE, ...matchPage.styles], hasBoard: true },
  operator: leaguePage("league/operator-page.tsx", "operator"),
  games: { entry: "site/games-main.tsx", styles: ["styles/play/games.css", "styles/play/new-game.css"] },
  game: { entry: "site/board-main.tsx", styles: [STEPS_STYLE, "styles/play/play.css"], hasBoard: true },
  play: {
    entry: "site/play-main.tsx",
    styles: ["styles/play/play.css", "styles/play/league-seat.css"],
    hasBoard: true,
  },
};

/** The style of games as text. */
export const TEXT_STYLE = "styles/boards/actions.css";

interface BoardFiles {
  readonly module: string;
  readonly styles: readonly string[];
}

const board = (module: string, ...styles: readonly string[]): BoardFiles => ({
  module: `boards/${module}.tsx`,
  styles: styles.map((name) => `styles/boards/${name}.css`),
});

/** The files of each graphical board. */
export const BOARD_FILES: Readonly<Record<BoardKind, BoardFiles>> = {
  chess: board("chess-board", "squares", "chess"),
  marks: board("grid-boards", "squares"),
  discs: board("grid-boards", "squares"),
  words: board("codenames-board", "actions", "squares", "codenames"),
  hands: board("hands-board", "actions", "rounds"),
  numbers: board("numbers-board", "actions", "rounds"),
  cards: board("cards-board", "actions", "rounds"),
};

/** The data that every page of a server contains for its script. */
export interface SiteSetup {
  readonly page: PageKind;
  /** The board that the page shows first; null if it shows none or if it is not known yet. */
  readonly board: BoardKind | null;
  readonly games: FactsOfGames;
}
