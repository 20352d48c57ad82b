import { readFile } from "node:fs/promises";
import type { Express, NextFunction, Request, Response } from "express";
import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { invariant } from "#shared/lib/result.ts";
import { bareHost, isLoopback } from "#shared/protocol/addresses.ts";
import { originOf } from "#shared/rpc/http/request.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { parseEntry } from "#shared/session/entry.ts";
import { assetRoutes } from "#shared/web/assets.ts";
import { FRAMES_OF_ANSWER, type FramesDocument, type LogDocument } from "#shared/web/league-documents.ts";
import { missingPage, missingPages, sendJson, sendPage, sitePage } from "#shared/web/site-page.ts";
import type { League } from "../league/league.ts";
import type { Ledger } from "../ledger.ts";
import {
  type DocumentContext,
  type DocumentKind,
  type DocumentRequest,
  pageOf,
  playerRef,
} from "./documents/document.ts";
import { DOCUMENTS, leaguesDocument } from "./documents/documents.ts";
import { framesOf, matchOfRequest } from "./documents/match-document.ts";
import { type GamePages, serversFor } from "./game-links.ts";
import { LiveDocuments } from "./live-documents.ts";
import { pgnOfMatch } from "./matches/match-pgn.ts";
import { MatchRelay } from "./matches/match-relay.ts";
import { type ReplayedMatch, StoredMatches } from "./matches/stored-match.ts";
import { leaguesHtml, pageWithoutScript } from "./pages-without-script.ts";

interface PagesOptions extends Omit<PagesContext, "live" | "matches"> {
  readonly network: Pick<Network, "openEventStream">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The pages of the leagues, and the streams that keep them up to date. */
export function leaguePages({ clock, log, network, ...context }: PagesOptions) {
  const onError = (thrown: unknown): void => log.error({ err: thrown }, "a document could not be sent");
  const live = new LiveDocuments({ clock, onError });
  const relay = new MatchRelay({ ledger: context.ledger, openEventStream: network.openEventStream, clock });
  const matches = { relay, stored: new StoredMatches(context.views) };
  return {
    /** Adds the pages and their documents. No routes may follow, because every unknown page is answered. */
    routes(app: Express): void {
      pageRoutes({ ...context, matches, live })(app);
      missingRoutes(context)(app);
    },
    /** Ends all streams. */
    close(): void {
      live.close();
      relay.close();
    },
  };
}

interface PagesContext extends DocumentContext, GamePages {
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
const pageRoutes =
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
const missingRoutes = (context: GamePages): ReturnType<typeof missingPages> =>
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

/** Returns the request for a league, or null if there is no such league. */
type FindLeague = (request: Request) => DocumentRequest | null;

/** The routes of a match besides its page: earlier frames, the entries of the log, and the files for download. */
function addMatchRoutes(app: Express, context: DocumentContext, find: FindLeague): void {
  const add = (
    path: string,
    answer: (requested: DocumentRequest, response: Response) => Promise<object | null>,
  ): void => {
    app.get(path, async (request, response, next) => {
      const requested = find(request);
      const document = requested && (await answer(requested, response));
      if (document) await sendJson(response, document);
      else if (!response.headersSent) next();
    });
  };
  add("/api/leagues/:league/matches/:match/frames", (requested) => framesDocument(context, requested));
  add("/api/leagues/:league/matches/:match/log", (requested) => logDocument(context, requested));
  add("/leagues/:league/matches/:match/log.jsonl", async (requested, response) => {
    const replayed = await replayedOf(context, requested);
    if (!replayed) return null;
    sendFile(response, requested, "jsonl", "application/jsonl; charset=utf-8", `${replayed.match.log.join("\n")}\n`);
    return null;
  });
  add("/leagues/:league/matches/:match/game.pgn", async (requested, response) => {
    const replayed = await replayedOf(context, requested);
    if (!replayed || requested.league.game !== "chess.v1" || replayed.checked.fault !== null) return null;
    const { projections } = context.views;
    const pgn = pgnOfMatch(replayed.match, (id) => playerRef(projections, id).name);
    sendFile(response, requested, "pgn", "application/x-chess-pgn; charset=utf-8", pgn);
    return null;
  });
}

function sendFile(response: Response, { league, params }: DocumentRequest, ending: string, type: string, text: string) {
  // The ids of leagues and matches have no quotation marks.
  const name = `${league.leagueId}-${params.match}.${ending}`.replaceAll(/[^\w.-]/g, "_");
  response.set("content-disposition", `attachment; filename="${name}"`).set("cache-control", "no-store");
  response.type(type).send(text);
}

async function replayedOf({ matches }: DocumentContext, requested: DocumentRequest): Promise<ReplayedMatch | null> {
  const match = matchOfRequest(requested);
  return match && (await matches.stored.replay(requested.league, match));
}

/** Returns the frames of a match from a number. */
async function framesDocument(context: DocumentContext, requested: DocumentRequest): Promise<FramesDocument | null> {
  const match = matchOfRequest(requested);
  if (!match) return null;
  const { session, frames } = await framesOf(context, requested.league, match);
  const from = Math.max(0, Number.parseInt(requested.query.get("from") ?? "0", 10) || 0);
  return session === null ? null : { session, from, frames: frames.slice(from, from + FRAMES_OF_ANSWER) };
}

/** Returns a page of the entries of a log. */
async function logDocument(context: DocumentContext, requested: DocumentRequest): Promise<LogDocument | null> {
  const replayed = await replayedOf(context, requested);
  if (!replayed) return null;
  const { match, hashes } = replayed;
  const all = match.log.map((text, seq) => ({ text, seq }));
  const { rows, ...page } = pageOf(all, requested.query);
  return {
    ...page,
    entries: rows.map(({ text, seq }) => {
      const entry = parseEntry(text);
      return {
        seq,
        type: entry.type,
        at: entry.at,
        hash: hashes[seq] ?? "",
        role: entry.type === "acted" ? entry.role : null,
      };
    }),
  };
}

/** The starter of `league new-bot --lang py`, which needs only Python. */
const PYTHON_STARTER = new URL("../../scripts/starters/py/", import.meta.url);

/** The texts of join.py that name the arguments for the address, and what stands in their place. */
const JOIN_USAGE = "usage: python3 join.py http://ADDRESS:8000/mcp [NAME [PORT [JOIN_CODE]]]";
const BOT_IMPORTS = "from bot import GAMES, choose\n";
const JOIN_CODE = '"join_code": join_code}';
const PORT_ADVICE = "another port as the third argument";

/**
 * Adds the files with which a student joins a league without this project: `join.py`, in which the address of the manager and the league are filled in,
 * and a bot for the game of the league. Neither contains the join code.
 */
function addPythonPlayer(app: Express, { views, joining }: PagesContext): void {
  app.get("/leagues/:league/:file", async (request, response, next) => {
    const { league: leagueId, file } = request.params;
    const league = views.projections.league(leagueId);
    if (!league || (file !== "join.py" && file !== "bot.py") || !joining.takesPlayers(league)) return next();
    const text = await readFile(new URL(file, PYTHON_STARTER), "utf8");
    const manager = `${addressFor(originOf(request), joining.addresses())}/mcp`;
    const filledIn = file === "join.py" ? joinProgram(text, manager, leagueId) : botProgram(text, league.game);
    response
      .set({ "content-disposition": `attachment; filename="${file}"`, "cache-control": "no-store" })
      .type("text/x-python; charset=utf-8")
      .send(filledIn);
  });
}

/** The address for other machines: that of the page, unless it was opened on the machine of the manager. */
function addressFor(origin: string, addresses: readonly string[]): string {
  const isLocal = (address: string): boolean => isLoopback(bareHost(new URL(address)));
  return isLocal(origin) ? (addresses.find((address) => !isLocal(address)) ?? origin) : origin;
}

/** Fills the address and the league into join.py. A text in JSON is a text in Python too. */
const joinProgram = (text: string, manager: string, leagueId: string): string =>
  [
    [
      BOT_IMPORTS,
      `${BOT_IMPORTS}MANAGER, LEAGUE = ${JSON.stringify(manager)}, ${JSON.stringify(leagueId)}\nsys.argv.insert(1, MANAGER)\n`,
    ],
    [JOIN_USAGE, "usage: python3 join.py NAME [PORT [JOIN_CODE]]"],
    [PORT_ADVICE, "another port as the second argument"],
    [JOIN_CODE, '"join_code": join_code, "league_ids": [LEAGUE]}'],
  ].reduce((filled, [from = "", to = ""]) => replaced(filled, from, to), text);

const botProgram = (text: string, game: string): string =>
  replaced(text, 'GAMES = ["rps.v1"]', `GAMES = [${JSON.stringify(game)}]`);

function replaced(text: string, from: string, to: string): string {
  invariant(text.includes(from), `the starter in Python contains ${from}`);
  return text.replace(from, () => to);
}
