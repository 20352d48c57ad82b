import type { Express, Request, Response } from "express";
import { z } from "zod";
import type { Game } from "#shared/games/game.ts";
import { matchRef } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import { bearerOf, remoteAddressOf } from "#shared/rpc/http/request.ts";
import { assetRoutes } from "#shared/web/asset-routes.ts";
import { reachableFrom, type SiteServers } from "#shared/web/site-links.ts";
import { missingPage, missingPages, sendPage, sitePage } from "#shared/web/site-page.ts";
import type { MatchNames } from "../../match/match-names.ts";
import { bodyOf, type Limits } from "../../rest/callers.ts";
import { pageErrorOf, RestError } from "../../rest/errors.ts";
import { EventsQuery, parseBody, parseQuery } from "../../rest/requests.ts";
import type { Streams } from "../../rest/streams.ts";
import { GameNotLoaded, type Rejection, rejection } from "../../sessions/rejections.ts";
import { PlayerName } from "../../sessions/seats.ts";
import type { SessionTable } from "../../sessions/session-table.ts";
import type { Play } from "../play.ts";
import { hasMoveOrResigns, type Turns } from "../turns.ts";
import { addGameRoutes, type GameRoutesContext } from "./game-routes.ts";

interface PagesDependencies extends GameRoutesContext {
  readonly play: Play;
  readonly turns: Turns;
  readonly sessions: SessionTable;
  readonly streams: Streams;
  /** The streams of league matches for the manager, which relays them. */
  readonly matchStreams: Streams;
  /** The session id of a league match, which is named by `league_id/match_id`. */
  readonly sessionOf: (ref: string) => Result<string, unknown>;
  /** The names of the players of league matches. */
  readonly names: MatchNames;
  /** The origins of the pages of the manager; none before the registration, and none at a session host. */
  readonly leaguesAt: () => readonly string[];
}

/** The maximum number of games in the list. */
const MAX_LISTED = 200;

const NewGame = z.strictObject({
  template: z.string().max(100),
  options: z.record(z.string(), z.unknown()).optional(),
  play_as: z.string().max(100).optional(),
  opponent: z.string().max(100).default("random"),
  name: PlayerName.optional(),
});
const Move = z
  .strictObject({
    move: z.unknown().optional(),
    resign: z.boolean().optional(),
    claim: z.enum(["checkmate", "draw", "win"]).nullish(),
    expected_tick: z.int().min(0).nullish(),
  })
  .check(hasMoveOrResigns);

/** The page from which all others can be reached. */
const HOME = { path: "/", text: "All games" };

/**
 * The pages of games and the routes that they call. Any caller may read the view of a spectator. The token of a seat, which is the fragment of
 * the link of a person, allows its holder to see the view of that seat and to move for it.
 */
export const gamePages =
  (context: PagesDependencies) =>
  (app: Express, limits: Limits): void => {
    const pages: PagesContext = { ...context, limits };
    const serversFor = ({ hostname }: Pick<Request, "hostname">): SiteServers => ({
      games: "",
      leagues: reachableFrom(hostname, context.leaguesAt()),
    });
    assetRoutes(app);
    app.get("/", async (request, response) => {
      context.onVisit();
      await sendPage(response, await sitePage({ page: "games", title: "Games", servers: serversFor(request) }));
    });
    app.get("/game/:id", async (request, response) => {
      context.onVisit();
      const servers = serversFor(request);
      const { status, game } = shownAt(context.play, request.params.id);
      const page =
        status === 404
          ? await missingPage("There is no game at this address.", HOME, servers)
          : await sitePage({ page: "game", title: "Game", game, servers });
      await sendPage(response.status(status), page);
    });
    app.get("/api/games", (_request, response) => listGames(pages, response));
    app.post("/api/games", (request, response) => createGame(pages, request, response));
    app.get("/api/games/:id", async (request, response) => {
      const { stored, viewer } = await gameOf(pages, request, response);
      response.json(context.names.inView(context.play.view(stored, viewer)));
    });
    app.get("/api/games/:id/events", (request, response) => watchGame(pages, request, response));
    app.get("/api/matches/:league/:match/events", (request, response) => watchMatch(context, request, response));
    app.post("/api/games/:id/moves", (request, response) => finishTurn(pages, request, response));
    addGameRoutes(app, context, limits, (request, response) => gameOf(pages, request, response));
    missingPages(HOME, serversFor)(app);
  };

interface PagesContext extends PagesDependencies {
  readonly limits: Limits;
}

interface Shown {
  readonly status: 200 | 404 | 503;
  readonly game?: Game;
}

/** Returns the HTTP status of the page of a game, and the game. With 503 the game is not loaded: the page shows the reason and tries again. */
function shownAt(play: Play, gameId: string): Shown {
  try {
    const found = play.accessTo(gameId, null);
    return found ? { status: 200, game: found.stored.session.game } : { status: 404 };
  } catch (thrown) {
    if (thrown instanceof GameNotLoaded) return { status: 503 };
    throw thrown;
  }
}

/** Returns the game of a request with the role of the caller or `spectator`. Throws NOT_FOUND. */
async function gameOf({ play, limits, opened, onVisit }: PagesContext, request: Request, response: Response) {
  onVisit();
  const found = play.accessTo(String(request.params.id), bearerOf(request));
  const agentId = found?.stored.session.participants[found.viewer];
  if (agentId !== undefined) {
    response.locals.agent = agentId;
    response.set(await limits.agent(agentId, remoteAddressOf(request)));
    opened.add(found?.stored.session.id ?? "", found?.viewer ?? "");
  }
  if (!found) throw pageErrorOf(rejection("UNKNOWN_SESSION", "No such game"));
  return found;
}

/** `GET /api/games` */
async function listGames({ play, sessions, names, onVisit }: PagesContext, response: Response): Promise<void> {
  onVisit();
  const games = await sessions.watchable(MAX_LISTED);
  response.json({
    games: games
      .map((game) => names.inList(game))
      .map((game) => (play.isInviting(game.game_id) ? { ...game, status: "waiting_for_players" } : game)),
  });
}

/** `POST /api/games` */
async function createGame(
  { play, limits, onVisit }: PagesContext,
  request: Request,
  response: Response,
): Promise<void> {
  onVisit();
  await limits.creation(request, response);
  const { play_as, name, ...game } = parseBody(NewGame, await bodyOf(request, response));
  const creator = { kind: "human", name } as const;
  const { gameId, role } = acceptedValue(await play.create({ ...game, playAs: play_as, creator, bearer: null }));
  const other = play.seats(gameId).find(({ kind, isCreator }) => kind === "human" && !isCreator);
  response.status(201).json({
    game_id: gameId,
    your_role: role,
    link: play.link(gameId, role),
    ...(other && { opponent_link: play.link(gameId, other.role) }),
  });
}

/** `GET /api/games/:id/events`, a stream of Server-Sent Events. */
async function watchGame(pages: PagesContext, request: Request, response: Response): Promise<void> {
  const { stored, viewer } = await gameOf(pages, request, response);
  const query = { last_event_id: request.headers["last-event-id"] ?? request.query.last_event_id };
  const { last_event_id = null } = parseQuery(EventsQuery, query);
  response.locals.waits = true;
  pages.streams.open(stored, viewer, last_event_id, response);
}

/**
 * `GET /api/matches/:league/:match/events`: the views of a spectator since the beginning of a match, or since the last event of the caller if it
 * has that of this `session`: a match that is begun again has another session.
 */
function watchMatch(
  { play, matchStreams, sessionOf }: PagesDependencies,
  request: Request<{ league: string; match: string }>,
  response: Response,
): void {
  const { league, match } = request.params;
  const found = sessionOf(matchRef(league, match));
  const access = found.ok ? play.accessTo(found.value, null) : null;
  if (!access) throw new RestError("NOT_FOUND", `no match ${matchRef(league, match)} here`);
  const { last_event_id = BEGINNING } = parseQuery(EventsQuery, { last_event_id: request.headers["last-event-id"] });
  const isSameSession = request.query.session === access.stored.session.id;
  response.locals.waits = true;
  matchStreams.open(access.stored, "spectator", isSameSession ? last_event_id : BEGINNING, response);
}
/** Before the id of the first event. */
const BEGINNING = -1;

/** `POST /api/games/:id/moves` */
async function finishTurn(pages: PagesContext, request: Request, response: Response): Promise<void> {
  const token = bearerOf(request);
  await gameOf(pages, request, response);
  const { move, resign, claim, expected_tick } = parseBody(Move, await bodyOf(request, response));
  const finished = await pages.turns.finish({
    gameId: String(request.params.id),
    token,
    move,
    resign: resign === true,
    claim: claim ?? null,
    expectedTick: expected_tick ?? null,
    idempotencyKey: null,
  });
  if (!finished.ok && (finished.error.code === "NO_SEAT" || finished.error.code === "AMBIGUOUS_SEAT")) {
    // The message of the rejection names an argument of the tools, which a request to this route does not have.
    const fault = token === null ? "is missing" : "is not the token of a seat of this game";
    const message = `Authorization: ${fault}; send "Bearer" and the token of your seat`;
    throw pageErrorOf(rejection(finished.error.code, message));
  }
  const { stored, role } = acceptedValue(finished);
  response.json(pages.play.view(stored, role));
}

/** Returns the value of a result. Throws the HTTP error of a rejection. */
function acceptedValue<T>(result: Result<T, Rejection>): T {
  if (result.ok) return result.value;
  throw pageErrorOf(result.error);
}
