import { escapeUnprintable } from "#shared/lib/text.ts";
import type { LeagueHeader, Mark, MatchRow, PlayerRef } from "#shared/web/league-documents.ts";

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

/** A match in a sentence: "Ann against Bob: Ann wins (mate)". */
export function matchSentence({ players, result }: MatchRow): string {
  const names = players.map(({ name }) => name).join(" against ");
  return result === null ? names : `${names}: ${result}`;
}

/** The results of matches as one letter, and as a text that is read aloud. */
export const MARKS: Readonly<Record<Mark, { readonly letter: string; readonly text: string }>> = {
  win: { letter: "W", text: "won" },
  draw: { letter: "D", text: "drawn" },
  loss: { letter: "L", text: "lost" },
  none: { letter: "–", text: "not counted" },
};

/** The names of players, for a text that is read aloud. */
export const namesOf = (players: readonly PlayerRef[]): string => players.map(({ name }) => name).join(", ");

type League = Pick<LeagueHeader, "league_id">;

/** Returns the path of a page of a league: `leaguePath(league, "standings")`. */
export const leaguePath = ({ league_id }: League, page = ""): string =>
  `/leagues/${encodeURIComponent(league_id)}${page === "" ? "" : `/${page}`}`;

export const playerPath = (league: League, { player_id }: Pick<PlayerRef, "player_id">): string =>
  leaguePath(league, `players/${encodeURIComponent(player_id)}`);

export const matchPath = (league: League, matchId: string): string =>
  leaguePath(league, `matches/${encodeURIComponent(matchId)}`);

/** The characters with a meaning in a regular expression. */
const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/** Splits a text into names and the texts between them. Of names that begin alike the longest one counts. */
export function nameParts(text: string, names: readonly string[]): readonly string[] {
  const longestFirst = names.filter((name) => name !== "").toSorted((one, other) => other.length - one.length);
  if (longestFirst.length === 0) return [text];
  const pattern = new RegExp(`(${longestFirst.map((name) => name.replaceAll(SYNTAX, "\\$&")).join("|")})`, "u");
  return text.split(pattern).filter((part) => part !== "");
}

/** Returns an untrusted text with its line breaks, and with all other control and direction characters as escapes. */
export const visibleText = (text: string): string => text.split("\n").map(escapeUnprintable).join("\n");

/** Returns a time for people: "8 ms", "1.3 s", "2 min 5 s". */
export function durationInWords(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
