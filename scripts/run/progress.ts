import { styleText } from "node:util";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import type { Standing } from "#shared/standings/standings.ts";
import { sprtText } from "#shared/statistics/sprt.ts";
import type { Awaited } from "../../league-manager/agents/awaited-players.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import {
  countText,
  nameIn,
  resultLine,
  roundText,
  startText,
  stateLine,
  waitingLine,
  waitingText,
} from "../../league-manager/projections/live-lines.ts";
import { widthOf } from "./tables.ts";

/** The progress that `league run` and `league serve` show on stderr: bars that are redrawn at a terminal, plain lines elsewhere. */
export interface Progress {
  /** Shows an event. */
  event(event: LiveEvent): void;
  /** Prints a line above the bars. */
  line(text: string): void;
  /** Erases the bars and stops drawing. */
  end(): void;
}

interface LeagueProgress {
  completed: number;
  matches: number | null;
  /** The current round as text; empty for formats that open their rounds at once. */
  round: string;
  standings: readonly Standing[];
  /** The state of a sequential test as text; empty for other formats. */
  test: string;
  /** The players and referees for which the league waits; null when it has started. */
  waiting: Awaited | null;
}

const UNPLAYED: LeagueProgress = { completed: 0, matches: 0, round: "", standings: [], test: "", waiting: null };

const BAR_WIDTH = 24;
const REDRAW_MS = 50;

/** A progress that shows nothing. */
export const silentProgress: Progress = { event: () => {}, line: () => {}, end: () => {} };

/**
 * Creates the progress of a stream: bars at a terminal, plain lines otherwise. With `showsRegistrations` a terminal also shows a line for each agent that
 * registers, for leagues whose players come one after the other.
 */
export const createProgress = (
  stream: NodeJS.WriteStream,
  clock: Clock,
  { showsRegistrations = false } = {},
): Progress => (stream.isTTY ? terminalProgress(stream, clock, showsRegistrations) : plainProgress(stream));

function plainProgress(stream: NodeJS.WriteStream): Progress {
  const line = (text: string): void => {
    stream.write(`${text}\n`);
  };
  return {
    line,
    event(event) {
      const text = plainLine(event);
      if (text !== null) line(text);
    },
    end: () => {},
  };
}

function plainLine(event: LiveEvent): string | null {
  switch (event.type) {
    case "registered":
      return registeredLine(event);
    case "league_started":
      return `${event.league_id}: ${startText(event)}`;
    case "round_started":
      return `${event.league_id}: ${roundText(event)}`;
    case "match_completed": {
      const { league_id, match, faults, completed, matches, standings, result } = event;
      const state = [countText(completed, matches), ...(result ? [sprtText(result)] : [])].join(", ");
      const players = Object.entries(match.roles).map(([role, id]) => `${nameIn(standings, id)} ${role}`);
      return `${league_id} ${match.match_id} (${players.join(", ")}): ${resultLine({ ...match, faults }, standings)} [${state}]`;
    }
    case "league_completed":
      return `${event.league_id}: completed`;
    case "player_state":
      return stateLine(event);
    case "league_waiting":
      return waitingLine(event.league_id, event.awaited);
    case "notice":
      return event.message;
    case "league_stuck": // `runLeagues` reports it, even without progress
    case "all_completed":
      return null;
  }
}

const registeredLine = ({ agent_id, name }: { readonly agent_id: string; readonly name: string }): string =>
  `${agent_id} registered: ${name}`;

/** Shows a bar and the leaders of each league, and redraws them at most twenty times per second. */
function terminalProgress(stream: NodeJS.WriteStream, clock: Clock, showsRegistrations: boolean): Progress {
  const leagues = new Map<string, LeagueProgress>();
  let drawnLines = 0;
  let cancelDrawing: Cancel | null = null;

  const erase = (): void => {
    if (drawnLines > 0) stream.write(`\x1b[${drawnLines}A\x1b[0J`);
    drawnLines = 0;
  };
  const draw = (): void => {
    cancelDrawing = null;
    erase();
    const lines = [...leagues].map(([id, league]) => cutToWidth(leagueLine(id, league, stream), stream.columns || 80));
    if (lines.length > 0) stream.write(`${lines.join("\n")}\n`);
    drawnLines = lines.length;
  };
  const redrawSoon = (): void => {
    cancelDrawing ??= clock.after(REDRAW_MS, draw);
  };
  const line = (text: string): void => {
    erase();
    stream.write(`${text}\n`);
    redrawSoon();
  };

  return {
    line,
    event(event) {
      if (event.type === "notice") return line(event.message);
      if (event.type === "registered" && showsRegistrations) return line(registeredLine(event));
      if (event.type === "player_state") {
        const text = stateLine(event);
        return text === null ? undefined : line(text);
      }
      if (event.type === "league_waiting") leagues.set(event.league_id, { ...UNPLAYED, waiting: event.awaited });
      if (event.type === "league_started") {
        leagues.set(event.league_id, { ...UNPLAYED, matches: event.matches });
      }
      if (event.type === "match_completed" && !leagues.has(event.league_id)) {
        // The league was started before the run was resumed.
        leagues.set(event.league_id, { ...UNPLAYED });
      }
      const league = "league_id" in event ? leagues.get(event.league_id) : undefined;
      if (league && event.type === "round_started") league.round = roundText({ ...event, byes: [] });
      if (league && event.type === "match_completed") {
        const { completed, matches, standings, result } = event;
        Object.assign(league, { completed, matches, standings, test: result ? sprtText(result) : "" });
      }
      redrawSoon();
    },
    end() {
      cancelDrawing?.();
      erase();
    },
  };
}

function leagueLine(id: string, league: LeagueProgress, stream: NodeJS.WriteStream): string {
  const name = styleText("bold", id.padEnd(12), { stream });
  if (league.waiting) return `${name} waits: ${waitingText(league.waiting)}`;
  const filled = Math.min(BAR_WIDTH, Math.round((BAR_WIDTH * league.completed) / Math.max(1, league.matches ?? 0)));
  const bar =
    styleText("green", "━".repeat(filled), { stream }) + styleText("dim", "─".repeat(BAR_WIDTH - filled), { stream });
  const leaders = league.standings.slice(0, 4).map((row) => `${row.rank}. ${row.display_name} ${row.points}`);
  const count = countText(league.completed, league.matches);
  return [`${name} ${league.matches === null ? "" : `${bar} `}${count}`, league.round, league.test, ...leaders]
    .filter((text) => text !== "")
    .join("  ");
}

/** Shortens a line to the width of the terminal, because a wrapped line could not be erased. Escape sequences are only at its beginning. */
export function cutToWidth(text: string, columns: number): string {
  let line = text;
  while (widthOf(line) >= columns) line = line.slice(0, -1);
  return line;
}
