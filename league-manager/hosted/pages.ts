import type { Express } from "express";
import { leaguePlayPage } from "#shared/web/pages.ts";

/** The page is self-contained, so it may load nothing. It may not be framed. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** The page on which a person joins a league and plays in it: `/play`, and `/play/P07#token=TOKEN` for a player that has joined. */
export function playPages(app: Express): void {
  app.get(["/play", "/play/:id"], async (_request, response) => {
    response
      .set(HEADERS)
      .type("html")
      .send(await leaguePlayPage());
  });
}
