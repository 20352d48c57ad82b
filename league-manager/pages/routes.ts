import type { Express, NextFunction, Request, Response } from "express";
import { findGame } from "#shared/games/registry.ts";
import { assetRoutes } from "#shared/web/asset-routes.ts";
import { missingPage, missingPages, sendJson, sendPage, sitePage } from "#shared/web/site-page.ts";
import type { League } from "../league/league.ts";
import type { Ledger } from "../ledger.ts";
import type { DocumentContext, DocumentKind, DocumentRequest } from "./documents/document.ts";
import { DOCUMENTS } from "./documents/documents.ts";
import { leaguesDocument } from "./documents/leagues.ts";
import { leaguesHtml, pageWithoutScript } from "./html.ts";
import type { LiveDocuments } from "./live-documents.ts";
import { addMatchRoutes } from "./match-routes.ts";
import { addPythonPlayer } from "./python-player.ts";
import { type GamePages, serversFor } from "./servers.ts";

export interface PagesContext extends DocumentContext, GamePages {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly live: LiveDocuments;
}

/** The seconds after which a browser without JavaScript loads the page of a league again. */
const REFRESH_S = 5;

/** The page from which all others can be reached. */
const HOME = { path: "/leagues", text: "All leagues" };

/**
 * The pages of leagues and their documents: `/leagues/{league_id}/{path}` is a page, `/api/leagues/{league_id}/{path}` its document as JSON or, for
 * `Accept: text/event-stream`, live.
 */
export const pageRoutes =
  (context: PagesContext) =>
  (app: Express): void => {
    assetRoutes(app);
    app.get("/", (request, response) => redirectHome(context, request, response));
    app.get("/leagues", async (request, response) => {
      const document = leaguesDocument(context, queryOf(request));
      const servers = serversFor(context, request);
      const page = { page: "leagues", title: "Leagues", setup: { document }, servers } as const;
      await sendPage(response, await sitePage({ ...page, content: leaguesHtml(document, servers) }));
    });
    app.get("/api/leagues", (request, response) => answerLeagues(context, request, response));
    for (const kind of DOCUMENTS) addKind(context, app, kind);
    addPythonPlayer(app, context);
    addMatchRoutes(app, context, (request) => requestOf(context, request));
    app.get("/leagues/:league{/*path}", (request, response, next) => answerMissing(context, request, response, next));
  };

/** Answers requests of browsers for unknown pages. These routes must be the last ones. */
export const missingRoutes = (context: GamePages): ReturnType<typeof missingPages> =>
  missingPages(HOME, (request) => serversFor(context, request));

const pathOf = ({ leagueId }: Pick<League, "leagueId">): string => `/leagues/${encodeURIComponent(leagueId)}`;

/** Answers with the list of leagues. */
function answerLeagues(context: PagesContext, request: Request, response: Response): Promise<void> {
  const query = queryOf(request);
  const read = (): object => leaguesDocument(context, query);
  return answer(context, request, response, { read, watch: (changed) => context.ledger.onCommit(changed) });
}

/** Answers browsers with a page for a league or a page of a league that does not exist. */
async function answerMissing(
  context: PagesContext,
  request: Request,
  response: Response,
  next: NextFunction,
): Promise<void> {
  if (request.accepts(["json", "html"]) !== "html") return next();
  const leagueId = String(request.params.league);
  const path = pathSegments(request);
  const servers = serversFor(context, request);
  const page = context.views.projections.league(leagueId)
    ? missingPage(
        missingText(path, queryOf(request)),
        { path: pathOf({ leagueId }), text: `League ${leagueId}` },
        servers,
      )
    : missingPage(`There is no league “${leagueId}”.`, HOME, servers);
  await sendPage(response.status(404), await page);
}

/** Returns the parts of the path below a league. */
function pathSegments(request: Request): readonly string[] {
  const path: unknown = request.params.path;
  return Array.isArray(path) ? path.map(String) : [];
}

/** Returns what an address below that of a league names and the league does not have. */
function missingText([kind, id]: readonly string[], query: URLSearchParams): string {
  if (kind === "matches" && id !== undefined) return `This league has no match ${id}.`;
  if (kind === "players" && id !== undefined) return `This league has no player ${id}.`;
  const round = query.get("round");
  if (kind === "schedule" && round !== null) return `This league has no round ${round}.`;
  if (kind === "bracket") return "This league has no bracket: its format is not a knockout.";
  return "The league has no such page.";
}

/**
 * Redirects to the only league, or to the list of leagues; `?projector` is kept. Addresses of earlier versions had the league and the round as a
 * query.
 */
function redirectHome({ views: { projections } }: PagesContext, request: Request, response: Response): void {
  const { league: named, round } = request.query;
  const leagues = projections.leagues();
  const only = leagues.length === 1 ? leagues[0]?.leagueId : undefined;
  const leagueId = typeof named === "string" ? named : only;
  const page = typeof round === "string" ? `/schedule?round=${encodeURIComponent(round)}` : "";
  const path = leagueId === undefined ? HOME.path : `${pathOf({ leagueId })}${page}`;
  const projector = request.query.projector === undefined ? "" : `${page === "" ? "?" : "&"}projector`;
  response.redirect(`${path}${projector}`);
}

function addKind(context: PagesContext, app: Express, kind: DocumentKind): void {
  const path = kind.path === "" ? "" : `/${kind.path}`;
  app.get(`/leagues/:league${path}`, async (request, response, next) => {
    const requested = requestOf(context, request);
    const document = requested && (await kind.read(context, requested));
    if (!document) return next();
    const servers = serversFor(context, request);
    const content = pageWithoutScript(context, requested, servers, kind.summary?.(document));
    const game = findGame(requested.league.game);
    const title = kind.title(document);
    const page = { page: kind.page, game, title, servers, setup: { document }, content } as const;
    const isOver = requested.league.status === "completed";
    await sendPage(response, await sitePage({ ...page, ...(!isOver && { refreshS: REFRESH_S }) }));
  });
  app.get(`/api/leagues/:league${path}`, (request, response, next) => {
    const requested = requestOf(context, request);
    if (!requested) return next();
    const { leagueId } = requested.league;
    answer(context, request, response, {
      read: () => {
        // The league may have changed since the request.
        const league = context.views.projections.league(leagueId);
        return league && kind.read(context, { ...requested, league });
      },
      watch(changed) {
        const stop = context.ledger.onCommit(({ events }) => {
          if (events.length === 0 || events.some((one) => one.kind === "agent" || one.leagueId === leagueId)) changed();
        });
        const end = kind.watch?.(context, requested, changed);
        return () => {
          stop();
          end?.();
        };
      },
    });
  });
}

/** Returns the request for a document of a league, or null if there is no such league. */
function requestOf({ views }: PagesContext, request: Request): DocumentRequest | null {
  const { league: leagueId = "", ...params } = request.params as Record<string, string>;
  const league = views.projections.league(leagueId);
  return league && { league, params, query: queryOf(request) };
}

const queryOf = (request: Request): URLSearchParams => new URL(request.url, "http://manager").searchParams;

interface AnsweredDocument {
  readonly read: () => object | null | Promise<object | null>;
  readonly watch: (changed: () => void) => () => void;
}

/** Answers with a document as JSON or as a stream. */
async function answer(
  context: PagesContext,
  request: Request,
  response: Response,
  answered: AnsweredDocument,
): Promise<void> {
  response.vary("accept");
  const isStream = request.accepts(["application/json", "text/event-stream"]) === "text/event-stream";
  const { live } = context;
  // A stream of a document that others read needs no separate read, e.g. when all readers reconnect.
  const document = isStream && live.has(request.url) ? {} : await answered.read();
  if (!document) response.status(404).json(NO_DOCUMENT);
  else if (!isStream) await sendJson(response, document);
  else if (request.method === "HEAD") response.type("text/event-stream").end();
  else if (!live.open({ key: request.url, ...answered }, response)) {
    response.status(503).json({ error: { code: "TOO_MANY_REQUESTS", message: "too many readers; try again later" } });
  }
}

const NO_DOCUMENT = { error: { code: "NOT_FOUND", message: "No such document" } };
