import type { Express } from "express";
import { z } from "zod";
import { findGame, knownGames } from "#shared/games/registry.ts";
import type { Result } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { fieldFaults } from "#shared/protocol/envelope.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { DisplayName, id } from "#shared/protocol/message-fields.ts";
import type { HttpContext, HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import { type CreationLimit, TOO_MANY_CREATIONS } from "#shared/rpc/jsonrpc/rate-limit.ts";
import { factsOf } from "#shared/web/game-view.ts";
import type { JoinView, LeagueView, MatchView, PlayView } from "#shared/web/play-documents.ts";
import { sendPage, sitePage } from "#shared/web/site-page.ts";
import { WRONG_JOIN_CODE } from "../agents/agent-identity.ts";
import type { Awaited } from "../agents/awaited-players.ts";
import { leaveLeagues } from "../commands/agent-commands.ts";
import type { League } from "../league/league.ts";
import { type GamePages, serversFor } from "../pages/game-links.ts";
import { waitingText } from "../projections/live-lines.ts";
import { nextMatch, playState, type StateContext, shownMatch } from "./hosted-state.ts";
import type { Seats } from "./hosting.ts";

/** The page on which a person joins a league and plays in it: `/play`, and `/play/P07#token=TOKEN` for a player that has joined. */
export const playPages =
  (context: GamePages) =>
  (app: Express): void => {
    app.get(["/play", "/play/:id"], async (request, response) => {
      const page = { page: "play", title: "Play in a league", setup: { games: games() } } as const;
      await sendPage(response, await sitePage({ ...page, servers: serversFor(context, request) }));
    });
  };

/** The facts of the games without the claim of a mate, which is not a message of a league. */
const games = () =>
  Object.fromEntries(
    Object.entries(factsOf(knownGames())).map(([id, { winningReason: _, ...facts }]) => [id, facts] as const),
  );

interface PageOptions {
  readonly seats: Seats;
  readonly awaiting: Awaiting;
  readonly needsJoinCode: boolean;
  readonly takesPlayers: (league: League) => boolean;
  readonly limitCreations: CreationLimit;
}

const Join = z.strictObject({
  name: DisplayName,
  league_id: id.optional(),
  join_code: z.string().max(1000).optional(),
});
const State = z.strictObject({ version: z.int().default(0), wait_s: z.number().min(0).max(60).default(25) });
const Move = z.strictObject({ match: z.string().max(500), move: z.unknown() });
const Nothing = z.strictObject({});

/** The path below which the page calls the manager. */
const PLAY_API = "/play/api/";

/** Closes the connection, so that the page repeats the request. */
const MOVING: HttpReply = { status: 503, body: "", isRefused: true };

/** Whether the manager with the inbox of the player answers a request of the page. */
export const isForHome = (path: string): boolean => path === `${PLAY_API}state` || path === `${PLAY_API}move`;

/** The requests of the page on which a person plays in a league: JSON by POST, with the player's token as the bearer token. */
export function playRoutes(options: PageOptions) {
  const { seats } = options;
  const { hosted } = seats.context;
  const stateOf = (playerId: string): HttpReply => json(200, pageState(seats.context, options.awaiting, playerId));
  const asPlayer = async (http: HttpContext, act: (playerId: string) => Promise<HttpReply>): Promise<HttpReply> => {
    const player = seats.playerOf(undefined, { authToken: http.bearer, remoteAddress: http.remoteAddress });
    return player.ok ? act(player.value.playerId) : failed(player.error, http);
  };
  /** Answers a request about the open matches. If they are at another manager, or move at the moment, the page repeats the request. */
  const atHome = (http: HttpContext, act: (playerId: string) => Promise<HttpReply>): Promise<HttpReply> =>
    asPlayer(http, async (playerId) => (seats.homes.of(playerId) === "here" ? act(playerId) : MOVING));
  const routes: Readonly<Record<string, (body: unknown, http: HttpContext) => Promise<HttpReply>>> = {
    leagues: route(Nothing, async () => json(200, joinView(options))),
    join: route(Join, (entry, http) => join(options, entry, http)),
    state: route(State, ({ version, wait_s }, http) =>
      atHome(http, async (playerId) => {
        const signal = http.abortSignal?.();
        await hosted.wait(playerId, () => hosted.version(playerId) !== version, { timeoutMs: wait_s * 1000, signal });
        return stateOf(playerId);
      }),
    ),
    move: route(Move, ({ match, move }, http) =>
      atHome(http, async (playerId) => answer(hosted.move(playerId, match, move), http, () => stateOf(playerId))),
    ),
    leave: route(Nothing, (_, http) =>
      asPlayer(http, async (playerId) =>
        answer(await seats.execute(leaveLeagues(playerId)), http, () => json(200, { status: "LEFT" })),
      ),
    ),
  };
  return {
    isAt: (path: string): boolean => path.startsWith(PLAY_API),
    async handler(body: string, http: HttpContext): Promise<HttpReply> {
      const name = (http.target ?? "").split("?", 1)[0]?.slice(PLAY_API.length) ?? "";
      const found = Object.hasOwn(routes, name) ? routes[name] : undefined;
      return found ? found(parsedJson(body), http) : failure(404, "NOT_FOUND", "No such request");
    },
  };
}

/** Returns a route that rejects a body of another form. */
const route =
  <Body>(schema: z.ZodType<Body>, handle: (body: Body, http: HttpContext) => Promise<HttpReply>) =>
  async (body: unknown, http: HttpContext): Promise<HttpReply> => {
    if (body === undefined) return failure(400, "INVALID_REQUEST", "The body is not JSON");
    const parsed = schema.safeParse(body);
    if (parsed.success) return handle(parsed.data, http);
    const [fault] = fieldFaults(parsed.error);
    return failure(400, "INVALID_REQUEST", `${fault?.path || "The body"} ${fault?.message ?? "is invalid"}`);
  };

async function join(
  { seats, limitCreations }: PageOptions,
  { name, league_id, join_code }: z.infer<typeof Join>,
  http: HttpContext,
): Promise<HttpReply> {
  const { remoteAddress } = http;
  const allowance = await limitCreations(remoteAddress);
  if (allowance && !allowance.isAllowed) {
    return { ...failure(429, "TOO_MANY_REQUESTS", TOO_MANY_CREATIONS), headers: allowance.headers };
  }
  const who = { authToken: http.bearer, remoteAddress };
  const joined = await seats.join({ name, leagueId: league_id, joinCode: join_code }, undefined, who);
  return answer(joined, http, ({ playerId, token }) => json(201, { player_id: playerId, player_token: token }));
}

function joinView({ seats, needsJoinCode, takesPlayers }: PageOptions): JoinView {
  const open = seats.context.projections.leagues().filter(takesPlayers);
  const leagues = open.map(({ leagueId, game, entrants }) => ({
    league_id: leagueId,
    game_name: findGame(game)?.info.name ?? game,
    players: entrants.size,
  }));
  return { leagues, needs_join_code: needsJoinCode };
}

const answer = <T>(result: Result<T, ProtocolError>, http: HttpContext, show: (value: T) => HttpReply): HttpReply =>
  result.ok ? show(result.value) : failed(result.error, http);

/** Answers a rejected request. A missing or wrong token is final for the page. */
function failed({ error_code, message }: ProtocolError, http: HttpContext): HttpReply {
  http.logRejection?.({ code: error_code, reason: message, request: `POST ${http.target}` });
  if (error_code === "L004") return failure(401, error_code, "This link has no seat in a league. Join again.");
  return failure(400, error_code, message === WRONG_JOIN_CODE ? CODE_FOR_PEOPLE : message);
}

/** The page has no options of a command. */
const CODE_FOR_PEOPLE = "This join code is wrong. Ask the person who runs the league for it.";

const json = (status: number, value: object): HttpReply => ({ status, body: JSON.stringify(value) });

const failure = (status: number, code: string, message: string): HttpReply =>
  json(status, { error: { code, message } });

/** Returns the players and referees that a league waits for, or null. */
type Awaiting = (league: League) => Awaited | null;

/** The number of rows of standings and of matches that the page shows. */
const MAX_ROWS = 100;
const MAX_MATCHES = 20;

/** Returns the state of a hosted player for its page. */
function pageState(context: StateContext, awaiting: Awaiting, playerId: string): PlayView {
  const { hosted, projections } = context;
  const { next, name } = playState(context, playerId);
  const turns = hosted.turns(playerId);
  const open = new Set(turns.map(({ ref }) => ref));
  const others = [...hosted.player(playerId).matches].reverse().filter(([ref]) => !open.has(ref));
  const shown = [...turns.map(({ ref, match }) => [ref, match] as const), ...others].slice(0, MAX_MATCHES);
  const leagues = projections.leagues().filter(({ entrants }) => entrants.has(playerId));
  return {
    version: hosted.version(playerId),
    player_id: playerId,
    name,
    is_over: next === "league_over",
    matches: shown.map(([ref, match]): MatchView => shownMatch(context, ref, match)),
    leagues: leagues.map((league) => leagueView(context, awaiting, league, playerId)),
  };
}

function leagueView({ projections }: StateContext, awaiting: Awaiting, league: League, playerId: string): LeagueView {
  const { leagueId, game, status } = league;
  const awaited = awaiting(league);
  return {
    league_id: leagueId,
    game_name: findGame(game)?.info.name ?? game,
    status,
    waiting: awaited ? waitingText(awaited) : "",
    next_match: nextMatch(projections, league, playerId),
    standings: projections
      .standings(league)
      .slice(0, MAX_ROWS)
      .map(({ rank, player_id, display_name, played, points }) => ({ rank, player_id, display_name, played, points })),
  };
}
