import type { Express, Request, Response } from "express";
import { z } from "zod";
import { gameIds } from "#shared/games/registry.ts";
import type { Result } from "#shared/lib/result.ts";
import { bearerOf } from "#shared/rpc/http/request.ts";
import { boardPage, gamesPage, missingPage } from "#shared/web/pages.ts";
import { bodyOf, type Limits } from "../rest/callers.ts";
import { pageErrorOf } from "../rest/errors.ts";
import { EventsQuery, parseBody, parseQuery } from "../rest/requests.ts";
import type { Streams } from "../rest/streams.ts";
import { type Rejection, rejection } from "../sessions/rejections.ts";
import { PlayerName } from "../sessions/seats.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import type { Play } from "./play.ts";
import { hasMoveOrResigns, type Turns } from "./turns.ts";

export interface PagesDesk {
  readonly play: Play;
  readonly turns: Turns;
  readonly sessions: SessionTable;
  readonly streams: Streams;
  /** Called at each request of a page's. */
  readonly onVisit: () => void;
}

const LISTED = 200;

const NewGame = z.strictObject({
  template: z
    .string()
    .max(100)
    .describe(`the game: ${gameIds.join(", ")}`),
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

/** Whatever a page needs is in it, so nothing from elsewhere may be loaded, and nobody may frame it. */
const PAGE = {
  "content-security-policy":
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/**
 * The pages of games and the routes that they call. Everybody may watch what a spectator may see. A seat's token, the fragment of a
 * person's link, lets its holder see that seat and move for it.
 */
export const gamePages =
  ({ play, turns, sessions, streams, onVisit }: PagesDesk) =>
  (app: Express, limits: Limits): void => {
    const page = (response: Response, html: string): void => void response.set(PAGE).type("html").send(html);
    /** A game and the viewer that the caller is in it. Throws NOT_FOUND. */
    const seen = async (request: Request, response: Response) => {
      onVisit();
      const found = play.look(String(request.params.id), bearerOf(request));
      const agentId = found?.kept.session.participants[found.viewer];
      if (agentId !== undefined) {
        response.locals.agent = agentId;
        await limits.agent(agentId, request, response);
      }
      if (!found) throw pageErrorOf(rejection("UNKNOWN_SESSION", "No such game"));
      return found;
    };

    app.get("/", async (_request, response) => {
      onVisit();
      page(response, await gamesPage());
    });
    app.get("/game/:id", async (request, response) => {
      onVisit();
      if (play.look(request.params.id, null)) return page(response, await boardPage({ mode: "page" }));
      page(response.status(404), await missingPage());
    });
    app.get("/api/games", async (_request, response) => {
      onVisit();
      const games = await sessions.watchable(LISTED);
      response.json({
        games: games.map((game) => (play.isInviting(game.game_id) ? { ...game, status: "waiting_for_players" } : game)),
      });
    });
    app.post("/api/games", async (request, response) => {
      onVisit();
      await limits.creation(request, response);
      const { play_as, name, ...asked } = parseBody(NewGame, await bodyOf(request, response));
      const creator = { kind: "human", name } as const;
      const { gameId, role } = taken(await play.create({ ...asked, playAs: play_as, creator, bearer: null }));
      const other = play.seats(gameId).find(({ kind, isCreator }) => kind === "human" && !isCreator);
      response.status(201).json({
        game_id: gameId,
        your_role: role,
        link: play.link(gameId, role),
        ...(other && { opponent_link: play.link(gameId, other.role) }),
      });
    });
    app.get("/api/games/:id", async (request, response) => {
      const { kept, viewer } = await seen(request, response);
      response.json(play.view(kept, viewer));
    });
    app.get("/api/games/:id/events", async (request, response) => {
      const { kept, viewer } = await seen(request, response);
      const query = { last_event_id: request.headers["last-event-id"] ?? request.query.last_event_id };
      const { last_event_id = null } = parseQuery(EventsQuery, query);
      response.locals.waits = true;
      streams.open(kept, viewer, last_event_id, response);
    });
    app.post("/api/games/:id/moves", async (request, response) => {
      const token = bearerOf(request);
      await seen(request, response);
      const { move, resign, claim, expected_tick } = parseBody(Move, await bodyOf(request, response));
      const finished = await turns.finish({
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
      const { kept, role } = taken(finished);
      response.json(play.view(kept, role));
    });
  };

/** The value; throws the answer to a rejection. */
function taken<T>(result: Result<T, Rejection>): T {
  if (result.ok) return result.value;
  throw pageErrorOf(result.error);
}
