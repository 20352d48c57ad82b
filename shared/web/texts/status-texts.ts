import type { LeagueHeader, MatchRow } from "../documents/league.ts";

/** The states of leagues as people read them on all pages. */
export const LEAGUE_STATUS_TEXTS: Readonly<Record<LeagueHeader["status"], string>> = {
  open: "Open for players",
  running: "Running",
  paused: "Paused",
  completed: "Completed",
};

/** The states of matches. */
export const MATCH_STATUS_TEXTS: Readonly<Record<MatchRow["status"], string>> = {
  scheduled: "Not started",
  playing: "Being played",
  completed: "Completed",
};

/** The connection of a page is lost. */
export const CONNECTION_LOST = "The server does not answer. The page tries again every few seconds.";
