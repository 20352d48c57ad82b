import type { Express, Response } from "express";
import type { Ids } from "#shared/lib/ids.ts";
import { cutTo, escapeHtml } from "#shared/lib/text.ts";
import type { Awaited } from "../../agents/awaited-players.ts";
import type { League, Round } from "../../league/league.ts";
import type { Projections } from "../../projections/projections.ts";
import { roundNumber, roundOf, roundsShown } from "../../projections/schedule.ts";
import { FOLLOW_SCRIPT } from "./follow-script.ts";
import { leadersSection, leagueList, leagueSection } from "./sections.ts";
import { STYLE } from "./style.ts";

type AwaitedBy = (league: League) => Awaited | null;

/**
 * The manager's page: standings and schedule of every league. A script follows the events of the leagues. Without scripts the browser reloads the
 * page.
 */
export const leaguePages =
  (projections: Projections, awaited: AwaitedBy, ids: Ids) =>
  (app: Express): void => {
    app.get("/", (request, response) => {
      const { league, round } = request.query;
      const chosen = typeof league === "string" ? projections.league(league) : null;
      if (league !== undefined && !chosen)
        return send(response.status(404), ids.token(), unknownLeague(projections, league));
      send(
        response,
        ids.token(),
        leaguesPage(projections, awaited, chosen && { league: chosen, roundId: roundNumber(round) }),
      );
    });
  };

/** The content of the page's `main` element. `isLive`: a script keeps the page up to date. */
interface Page {
  readonly main: string;
  readonly isLive: boolean;
}

/** Sends a page. `nonce` must be new for each response: the browser runs only scripts that carry it. */
function send(response: Response, nonce: string, { main, isLive }: Page): void {
  response.set(
    "content-security-policy",
    `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'`,
  );
  response.set("x-content-type-options", "nosniff");
  const refresh = isLive ? '<noscript><meta http-equiv="refresh" content="5"></noscript>' : "";
  const connection = isLive ? CONNECTION_LOST : "";
  const script = isLive ? `<script nonce="${nonce}">${FOLLOW_SCRIPT}</script>` : "";
  response
    .type("html")
    .send(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
${refresh}<title>League</title><style>${STYLE}</style></head><body><h1>League</h1>${connection}<main>${main}</main>${script}</body></html>`);
}

/** Hidden until the script shows it. */
const CONNECTION_LOST =
  '<p id="connection" role="status" hidden>The league manager does not answer. The page shows the last known state and tries again every few seconds.</p>';

/**
 * The maximum number of rows of standings and schedules in one page, about 1 MB. Further leagues show their leaders and a link to their own page. The first
 * league is always shown completely.
 */
const PAGE_ROWS = 4_000;

/** The league and the round that the query names; null for the page of all leagues. `roundId` is 0 if the query names no valid round. */
type Choice = { readonly league: League; readonly roundId: number } | null;

function leaguesPage(projections: Projections, awaited: AwaitedBy, choice: Choice): Page {
  const leagues = choice ? [choice.league] : projections.leagues();
  let rows = 0;
  const sections = leagues.map((league) => {
    const rounds = roundsOf(league, choice);
    const sectionRows =
      projections.standings(league).length + rounds.reduce((sum, { matches }) => sum + matches.length, 0);
    const isComplete = rows === 0 || rows + sectionRows <= PAGE_ROWS;
    if (isComplete) rows += sectionRows;
    const waiting = awaited(league);
    return isComplete
      ? leagueSection(projections, league, rounds, waiting)
      : leadersSection(projections, league, waiting);
  });
  const backLink = choice && projections.leagues().length > 1 ? '<p><a href="/">All leagues</a></p>' : "";
  const playLink = leagues.some(({ status }) => status === "open")
    ? '<p><a href="/play">Play in this league</a></p>'
    : "";
  return {
    main: playLink + sections.join("") + backLink,
    isLive: leagues.some(({ status }) => status !== "completed"),
  };
}

/** The rounds that a league's section shows. */
function roundsOf(league: League, choice: Choice): readonly Round[] {
  const chosen = choice && roundOf(league, choice.roundId);
  return chosen ? [chosen] : roundsShown(league);
}

/** The maximum number of characters of an unknown league name that the page shows. */
const MAX_NAME_CHARACTERS = 100;

function unknownLeague(projections: Projections, requested: unknown): Page {
  const name =
    typeof requested === "string" ? ` “${escapeHtml(cutTo(MAX_NAME_CHARACTERS, requested))}”` : " of that name";
  return {
    main: `<p>There is no league${name}. The leagues are:</p>${leagueList(projections.leagues())}`,
    isLive: false,
  };
}
