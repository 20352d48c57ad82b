import type { Express, Request, Response } from "express";
import { z } from "zod";
import type { Viewer } from "#shared/games/game.ts";
import type { HistoryDocument, InvitationsDocument, RematchDocument } from "#shared/web/play-documents.ts";
import { sendJson } from "#shared/web/site-page.ts";
import { bodyOf, type Limits } from "../../rest/callers.ts";
import { pageErrorOf } from "../../rest/errors.ts";
import { parseBody } from "../../rest/requests.ts";
import type { StoredSession } from "../../sessions/live-sessions.ts";
import { rejection } from "../../sessions/rejections.ts";
import { PlayerName } from "../../sessions/seats.ts";
import type { PlayContext } from "../context.ts";
import { nameSeat } from "../naming.ts";
import type { SeatAccess } from "../seat-access.ts";
import { historyOf } from "./history.ts";
import { invitationsFor, type OpenedSeats } from "./invitations.ts";
import { newGameDocument } from "./new-game.ts";
import type { Rematches } from "./rematch.ts";

/** The data of the routes for new games, invitations, names, histories and rematches. */
export interface GameRoutesContext {
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
export function addGameRoutes(app: Express, routes: GameRoutesContext, limits: Limits, find: FindGame): void {
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
