import type { Express } from "express";
import { knownGames } from "#shared/games/registry.ts";
import { factsOf } from "#shared/web/game-facts.ts";
import { sendPage, sitePage } from "#shared/web/site-page.ts";
import { type GamePages, serversFor } from "../pages/servers.ts";

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
