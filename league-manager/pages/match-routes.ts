import type { Express, Request, Response } from "express";
import { parseEntry } from "#shared/session/entry.ts";
import type { FramesDocument, LogDocument } from "#shared/web/documents/match.ts";
import { FRAMES_OF_ANSWER } from "#shared/web/documents/match.ts";
import { sendJson } from "#shared/web/site-page.ts";
import type { DocumentContext, DocumentRequest } from "./documents/document.ts";
import { pageOf, playerRef } from "./documents/league.ts";
import { framesOf, matchOfRequest } from "./documents/match.ts";
import { pgnOfMatch } from "./matches/match-pgn.ts";
import type { ReplayedMatch } from "./matches/stored-match.ts";

/** Returns the request for a league, or null if there is no such league. */
type FindLeague = (request: Request) => DocumentRequest | null;

/** The routes of a match besides its page: earlier frames, the entries of the log, and the files for download. */
export function addMatchRoutes(app: Express, context: DocumentContext, find: FindLeague): void {
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
        ...{ seq, type: entry.type, at: entry.at, hash: hashes[seq] ?? "" },
        role: entry.type === "acted" ? entry.role : null,
      };
    }),
  };
}
