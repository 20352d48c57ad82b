import type { Express, Request, Response } from "express";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { cutTo } from "#shared/lib/text.ts";
import { LEAGUE_EVENT_TYPES } from "../../league/events.ts";
import type { League } from "../../league/league.ts";
import type { Projections } from "../../projections/projections.ts";
import type { EventType } from "./chunks.ts";
import type { LeagueStreams, RequestedEvents } from "./streams.ts";

/** `GET /leagues/{league_id}/events?from=VERSION&types=TYPE,…`: the events of a league after a version (PROTOCOL.md, section 4). */
export const streamRoutes =
  (projections: Pick<Projections, "league">, streams: LeagueStreams) =>
  (app: Express): void => {
    app.get("/leagues/:league_id/events", async (request, response) => {
      const league = projections.league(request.params.league_id);
      if (!league) return reject(response, 404, "NOT_FOUND", `no league ${request.params.league_id}`);
      const events = requestedEvents(league, request);
      if (!events.ok) return reject(response, 400, "INVALID_REQUEST", events.error);
      const { leagueId, version } = league;
      const { after } = events.value;
      if (!(await streams.hasVersion(leagueId, after))) {
        const message = `version ${after} is later than version ${version} of league ${leagueId}`;
        return reject(response, 400, "INVALID_REQUEST", message);
      }
      // After 204 an EventSource does not reconnect.
      if (league.status === "completed" && after >= version) return void response.status(204).end();
      if (request.method === "HEAD") return void response.type("text/event-stream").end();
      if (!streams.open(events.value, response)) {
        reject(response, 503, "TOO_MANY_REQUESTS", "too many readers of events; try again later");
      }
    });
  };

const reject = (response: Response, status: number, code: string, message: string): void =>
  void response.status(status).json({ error: { code, message } });

function requestedEvents(league: League, request: Request): Result<RequestedEvents, string> {
  const { leagueId, version } = league;
  const after = requestedVersion(request) ?? version;
  if (after === "invalid") return err("from and Last-Event-ID must be versions: 0, 1, 2, …");
  const types = requestedTypes(request.query.types);
  return types.ok ? ok({ leagueId, after, types: types.value }) : types;
}

/** The version after which the reader continues: that of the header Last-Event-ID, else that of the query; undefined if there is neither. */
function requestedVersion(request: Request): number | "invalid" | undefined {
  const requested = request.get("last-event-id") ?? request.query.from;
  if (requested === undefined) return undefined;
  return typeof requested === "string" && /^\d{1,9}$/.test(requested) ? Number(requested) : "invalid";
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(LEAGUE_EVENT_TYPES);
const MAX_TYPE_CHARACTERS = 50;

/** The types of events that a query names; null if it has no `types`. */
function requestedTypes(requested: unknown): Result<RequestedEvents["types"], string> {
  if (requested === undefined) return ok(null);
  const types = typeof requested === "string" ? requested.split(",") : [];
  const unknown = types.find((type) => !KNOWN_TYPES.has(type));
  if (types.length > 0 && unknown === undefined) return ok(new Set(types as EventType[]));
  const fault =
    unknown === undefined ? "must be one list" : `has the unknown type "${cutTo(MAX_TYPE_CHARACTERS, unknown)}"`;
  return err(`types ${fault}; the types, separated by commas, are ${LEAGUE_EVENT_TYPES.join(", ")}`);
}
