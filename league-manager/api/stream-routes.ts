import type { Express, Request } from "express";
import type { Projections } from "../projections/projections.ts";
import type { LeagueStreams } from "./streams.ts";

/** `GET /leagues/{league_id}/events?from=VERSION`: the events of a league after a version (PROTOCOL.md, section 4). */
export const streamRoutes =
  (projections: Pick<Projections, "league">, streams: LeagueStreams) =>
  (app: Express): void => {
    app.get("/leagues/:league_id/events", (request, response) => {
      const league = projections.league(request.params.league_id);
      const refuse = (status: number, code: string, message: string): void =>
        void response.status(status).json({ error: { code, message } });
      if (!league) return refuse(404, "NOT_FOUND", `no league ${request.params.league_id}`);
      const after = versionAsked(request) ?? league.version;
      if (after === "invalid") return refuse(400, "INVALID_REQUEST", "from and Last-Event-ID are versions: 0, 1, 2, …");
      if (after > league.version) {
        return refuse(
          400,
          "INVALID_REQUEST",
          `league ${league.leagueId} has version ${league.version}, not ${after} yet`,
        );
      }
      // 204 tells an EventSource not to reconnect.
      if (league.status === "completed" && after === league.version) return void response.status(204).end();
      if (request.method === "HEAD") return void response.type("text/event-stream").end();
      if (!streams.open(league.leagueId, after, response)) {
        refuse(503, "TOO_MANY_REQUESTS", "too many readers of events; try again later");
      }
    });
  };

/** The version that the reader has: of the last event it received, else of the query. Undefined when it names none. */
function versionAsked(request: Request): number | "invalid" | undefined {
  const asked = request.get("last-event-id") ?? request.query.from;
  if (asked === undefined) return undefined;
  return typeof asked === "string" && /^\d{1,15}$/.test(asked) ? Number(asked) : "invalid";
}
