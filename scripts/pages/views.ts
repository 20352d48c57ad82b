import type { Page } from "playwright-core";
import type { Servers } from "./servers.ts";

/** A page in a state. */
export interface View {
  /** The name of the image, without its look. */
  readonly name: string;
  readonly url: (servers: Servers) => string;
  /** The status of the page; 200 by default. */
  readonly status?: number;
  /** Shows that the page is complete; by default the heading. */
  readonly ready?: string;
  /** Whether the page opens an event stream itself, not in the shared worker: the page of a game that is not over. */
  readonly hasStream?: boolean;
  /** Brings the page into the state. */
  readonly act?: (page: Page, servers: Servers) => Promise<void>;
  /** Whether the page has a form for projectors. */
  readonly hasProjector?: boolean;
}

/** The sections of a league, as paths below it. */
const SECTIONS = ["", "standings", "schedule", "crosstable", "ratings", "points"] as const;

const leagueView = (league: string, section: string, more: Partial<View> = {}): View => ({
  name: [league, section.replaceAll("/", "-") || "overview"].join("-"),
  url: ({ leagues }) => `${leagues}/leagues/${league}${section === "" ? "" : `/${section}`}`,
  ...more,
});

const sectionsOf = (league: string, sections: readonly string[] = SECTIONS): readonly View[] =>
  sections.map((section) => leagueView(league, section, { hasProjector: true }));

/** Enters the operator token. */
const unlock: View["act"] = async (page, { operatorToken }) => {
  await page.getByLabel("Operator token").fill(operatorToken);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByText("The token is accepted.").waitFor();
};

/** A completed match of each game. */
const MATCHES = ["four", "knockout", "chess", "codenames", "kuhn_poker", "even_odd", "tic_tac_toe", "rps"].map(
  (league) => leagueView(league, "matches/R1M1"),
);

const gameView = (kind: keyof Servers["games"], game: string, act?: View["act"]): View => ({
  name: `play-${game}-${kind}`,
  url: ({ games }) => games[kind][game] ?? "",
  ready: ".status",
  hasStream: !game.endsWith("-over"),
  ...(act && { act }),
});

/** All pages and states. */
export const VIEWS: readonly View[] = [
  { name: "leagues", url: ({ leagues }) => `${leagues}/leagues` },
  { name: "no-league", url: ({ leagues }) => `${leagues}/leagues/none`, status: 404 },
  { name: "no-page", url: ({ leagues }) => `${leagues}/none`, status: 404 },
  ...sectionsOf("empty"),
  ...sectionsOf("filling", [""]),
  ...sectionsOf("four"),
  ...sectionsOf("twenty"),
  ...sectionsOf("hundred"),
  ...sectionsOf("knockout", ["", "standings", "bracket", "schedule"]),
  ...sectionsOf("two-chances", ["bracket"]),
  { name: "league-live", url: ({ live }) => `${live}/leagues/live`, hasProjector: true },
  leagueView("four", "players/P03"),
  leagueView("hundred", "players/P30"),
  leagueView("filling", "players/P01"),
  leagueView("twenty", "operator"),
  leagueView("twenty", "operator", { name: "twenty-operator-open", act: unlock }),
  ...MATCHES,
  { name: "match-live", url: ({ live }) => `${live}/leagues/live/matches/R1M1`, ready: ".match-board .status" },
  { name: "join-league", url: ({ leagues }) => `${leagues}/play` },
  { name: "games", url: ({ host }) => `${host}/` },
  { name: "games-referee", url: ({ referee }) => `${referee}/` },
  { name: "no-game", url: ({ host }) => `${host}/game/none`, status: 404 },
  {
    name: "play-wrong-seat",
    url: ({ games }) => `${games.spectator.chess}#seat=wrong`,
    ready: ".status",
    hasStream: true,
  },
  gameView("person", "chess"),
  { ...gameView("person", "chess", (page) => page.locator('[data-cell="d2"]').click()), name: "play-chess-chosen" },
  gameView("opponent", "chess-over"),
  gameView("spectator", "chess"),
  gameView("person", "chess-check"),
  gameView("person", "connect-four"),
  gameView("person", "connect-four-over"),
  gameView("person", "tic-tac-toe"),
  gameView("person", "rps"),
  gameView("person", "even-odd"),
  gameView("opponent", "kuhn-poker"),
  gameView("spectator", "kuhn-poker"),
];
