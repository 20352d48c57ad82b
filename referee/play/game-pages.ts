import type { Express, Request, Response } from "express";
import { z } from "zod";
import type { Game, Role, Viewer } from "#shared/games/game.ts";
import { moveText } from "#shared/games/move-text.ts";
import { optionFields } from "#shared/games/new-game-choices.ts";
import { knownGames } from "#shared/games/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import { bearerOf, remoteAddressOf } from "#shared/rpc/http/request.ts";
import { parseEntry } from "#shared/session/entry.ts";
import type { Session } from "#shared/session/session.ts";
import { assetRoutes } from "#shared/web/assets.ts";
import type {
  HistoryDocument,
  HistoryMove,
  InvitationsDocument,
  NewGameDocument,
  RematchDocument,
} from "#shared/web/play-documents.ts";
import { reachableFrom, type SiteServers } from "#shared/web/site-links.ts";
import { missingPage, missingPages, sendJson, sendPage, sitePage } from "#shared/web/site-page.ts";
import type { MatchNames } from "../match/match-names.ts";
import { bodyOf, EventsQuery, type Limits, pageErrorOf, parseBody, parseQuery, RestError } from "../rest/requests.ts";
import type { Streams } from "../rest/streams.ts";
import type { SessionHost, StoredSession } from "../sessions/host.ts";
import { GameNotLoaded, type Rejection, rejection } from "../sessions/rejections.ts";
import { PlayerName } from "../sessions/seats.ts";
import type { SessionLists } from "../sessions/session-store.ts";
import { actionsFor, viewFor } from "../views.ts";
import { type AvailableBots, linkOf, nameSeat, type Play, type PlayContext, type SeatAccess } from "./play.ts";
import type { Rematches } from "./rematch.ts";
import { hasMoveOrResigns, type Turns } from "./turns.ts";

interface PagesDependencies extends GameRoutesContext {
  readonly play: Play;
  readonly turns: Turns;
  readonly sessions: SessionLists;
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

/** The data of the routes for new games, invitations, names, histories and rematches. */
interface GameRoutesContext {
  readonly playing: PlayContext;
  readonly opened: OpenedSeats;
  readonly rematches: Rematches;
  /** Called at each request of a page. */
  readonly onVisit: () => void;
}

const SeatName = z.strictObject({ name: PlayerName });

/** A game with the role of the caller or `spectator`. */
interface FoundGame {
  readonly stored: StoredSession;
  readonly viewer: Viewer;
}
type FindGame = (request: Request, response: Response) => Promise<FoundGame>;

/** Adds the routes for the choice of a game, invitations, names of people, the moves of a game and rematches. `find` throws NOT_FOUND. */
function addGameRoutes(app: Express, routes: GameRoutesContext, limits: Limits, find: FindGame): void {
  const { playing, opened, rematches } = routes;
  const seat = async (request: Request, response: Response): Promise<SeatAccess> => {
    const { stored, viewer } = await find(request, response);
    if (viewer === "spectator") throw pageErrorOf(rejection("NO_SEAT", "Only a player of this game can do this"));
    return { stored, role: viewer };
  };
  app.get("/api/new-game", (_request, response) => {
    routes.onVisit();
    response.json(newGameDocument(playing.bots));
  });
  app.get("/api/games/:id/history", async (request, response) => {
    const { stored, viewer } = await find(request, response);
    const from = Math.max(0, Number.parseInt(String(request.query.from ?? "0"), 10) || 0);
    await sendJson(response, historyOf(playing.host, stored, viewer, from) satisfies HistoryDocument);
  });
  app.get("/api/games/:id/invitations", async (request, response) => {
    const { stored, role } = await seat(request, response);
    const { id } = stored.session;
    const is_rematch = rematches.isRematch(id);
    response.json({ ...invitationsFor(playing, opened, id, role), is_rematch } satisfies InvitationsDocument);
  });
  app.post("/api/games/:id/name", async (request, response) => {
    const access = await seat(request, response);
    const { name } = parseBody(SeatName, await bodyOf(request, response));
    const named = await nameSeat(playing, access, name);
    if (!named.ok) throw pageErrorOf(named.error);
    response.json({ name });
  });
  app.get("/api/games/:id/rematch", async (request, response) => {
    response.json({ link: rematches.linkFor(await seat(request, response)) } satisfies RematchDocument);
  });
  app.post("/api/games/:id/rematch", async (request, response) => {
    const access = await seat(request, response);
    await limits.creation(request, response);
    const started = await rematches.start(access);
    if (!started.ok) throw pageErrorOf(started.error);
    response.json({ link: started.value } satisfies RematchDocument);
  });
}

/** The maximum number of moves with their positions, which are the newest ones. */
const MAX_POSITIONS = 600;

/** The moves of a session that a viewer may know, oldest first, with the positions as the viewer has seen them, without the first `from` moves. */
export function historyOf(
  host: SessionHost,
  { session, rows }: StoredSession,
  viewer: Viewer,
  from: number,
): HistoryDocument {
  const known = new Set(
    actionsFor(session, rows, viewer)
      .map(({ tick }) => tick)
      .slice(from),
  );
  const steps = host.since(session.id, -1);
  const moves: Required<HistoryMove>[] = [];
  let before: Session | null = null;
  for (const { seq, session: step } of steps) {
    const row = rows[seq];
    const entry = row && parseEntry(row.body);
    if (before && entry?.type === "acted" && known.has(entry.tick)) {
      const { shownState: state, board } = viewFor(step, viewer);
      const text = moveText(step.game, before.state, entry.action);
      moves.push({ tick: entry.tick, role: entry.role, action: entry.action, text, after: { state, board } });
    }
    before = step;
  }
  const firstPosition = moves.length - MAX_POSITIONS;
  const [first] = steps;
  const { shownState: state, board } = viewFor(first?.session ?? session, viewer);
  const start = { state, board };
  return {
    start,
    from,
    moves: moves.map(({ after, ...move }, index) => (index < firstPosition ? move : { ...move, after })),
  };
}

/** The maximum number of seats that are remembered as opened. */
const MAX_REMEMBERED = 10_000;

/** The seats whose links were opened, since this process has started. */
export class OpenedSeats {
  readonly #keys = new Set<string>();

  add(gameId: string, role: Role): void {
    const key = `${gameId}/${role}`;
    if (this.#keys.has(key)) return;
    const [oldest] = this.#keys;
    if (this.#keys.size >= MAX_REMEMBERED && oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(key);
  }

  has(gameId: string, role: Role): boolean {
    return this.#keys.has(`${gameId}/${role}`);
  }
}

/**
 * How the other players of a game get their seats, for the seat of the person who has created it. Empty for other seats. A person that
 * creates a game hands out its links, also in games with hidden information.
 */
function invitationsFor(
  context: PlayContext,
  opened: OpenedSeats,
  gameId: string,
  asker: Role,
): Omit<InvitationsDocument, "is_rematch"> {
  const seats = context.seats.of(gameId);
  const isCreator = seats.some(({ role, kind, isCreator }) => role === asker && kind === "human" && isCreator);
  const others = isCreator ? seats.filter(({ role }) => role !== asker) : [];
  const inOrder = (context.host.read(gameId)?.session.game.roles ?? []).flatMap((role) =>
    others.filter((seat) => seat.role === role),
  );
  return {
    people: inOrder
      .filter(({ kind }) => kind === "human")
      .map(({ role }) => ({
        role,
        link: linkOf(context, gameId, role),
        has_opened: opened.has(gameId, role),
      })),
    agents: inOrder.filter(({ kind, joined }) => kind === "agent" && !joined).map(({ role }) => ({ role })),
    mcp_url: `${context.pagesUrl()}/mcp`,
  };
}

/** The games that most people know, which are offered first. */
const WELL_KNOWN: readonly string[] = ["chess.v1", "connect_four.v1", "tic_tac_toe.v1", "rps.v1"];

const rankOf = ({ id }: { readonly id: string }): number =>
  WELL_KNOWN.includes(id) ? WELL_KNOWN.indexOf(id) : WELL_KNOWN.length;

/** What a person can choose for a new game of this process, well-known games first. */
const newGameDocument = (bots: Pick<AvailableBots, "opponentsIn">): NewGameDocument => ({
  games: [...knownGames()]
    .sort((one, other) => rankOf(one) - rankOf(other))
    .map((game) => ({
      template: game.id,
      roles: game.roles,
      opponents: bots.opponentsIn(game.id),
      options: optionFields(game),
    })),
});
