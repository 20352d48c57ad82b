import type { LeaguePage } from "#shared/web/page-files.ts";
import type { League } from "../../league/league.ts";
import type { Views } from "../../projections/views.ts";
import type { Matches } from "../matches/matches.ts";

/** The data from which documents are computed. */
export interface DocumentContext {
  readonly views: Views;
  readonly matches: Matches;
  /** How players join the leagues of this manager. */
  readonly joining: {
    readonly needsJoinCode: boolean;
    /** Whether a further player can enter a league. */
    readonly takesPlayers: (league: League) => boolean;
    /** The addresses of the manager, those for other machines first: "http://192.168.0.7:8000". */
    readonly addresses: () => readonly string[];
  };
}

/** A request for a document. */
export interface DocumentRequest {
  readonly league: League;
  /** The variable parts of the path apart from the league. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/**
 * A document of a league that a page shows: `GET /api/leagues/{league_id}/{path}`, as JSON or live. It is computed from the state of
 * the manager and stores nothing.
 */
export interface DocumentKind {
  /** The page that shows the document. */
  readonly page: LeaguePage;
  /** The path below the league as Express writes it: "" or "matches/:match". The page has the same path without `/api`. */
  readonly path: string;
  /** The title of the page. */
  title(document: object): string;
  /** Returns what the page shows without JavaScript, as short texts below each other. A page without this function shows the standings. */
  summary?(document: object): readonly string[];
  /** Returns the document, or null if it does not exist. */
  read(context: DocumentContext, request: DocumentRequest): object | null | Promise<object | null>;
  /**
   * Called when the first reader opens the live document, for documents that depend on more than the events of the league. Calls `changed` after each
   * change. Returns a function that ends this; it is called when the last reader has left.
   */
  watch?(context: DocumentContext, request: DocumentRequest, changed: () => void): () => void;
}
