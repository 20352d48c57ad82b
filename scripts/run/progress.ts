import { createRequire } from "node:module";
import { styleText } from "node:util";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { counted } from "#shared/lib/text.ts";
import type { Awaited } from "../../league-manager/agents/awaited.ts";
import type { Standing } from "../../league-manager/league/standings.ts";
import { nameIn, resultLine, stateLine, waitingLine, waitingText } from "../../league-manager/projections/lines.ts";
import type { LiveEvent } from "../../league-manager/projections/live.ts";

const require = createRequire(import.meta.url);

/** What `league run` shows on stderr while it plays: a drawing that is redrawn on a terminal, plain lines elsewhere. */
export interface Progress {
  event(event: LiveEvent): void;
  line(text: string): void;
  /** Takes the drawing away; nothing is shown any more. */
  end(): void;
}

interface LeagueShown {
  completed: number;
  matches: number;
  round: number;
  standings: readonly Standing[];
  /** What it waits for; null when it has started. */
  waiting: Awaited | null;
}

const UNPLAYED: LeagueShown = { completed: 0, matches: 0, round: 1, standings: [], waiting: null };

const BAR_WIDTH = 24;
const REDRAW_MS = 50;

export const silentProgress: Progress = { event: () => {}, line: () => {}, end: () => {} };

export const createProgress = (stream: NodeJS.WriteStream, clock: Clock): Progress =>
  stream.isTTY ? drawnProgress(stream, clock) : plainProgress(stream);

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
      return `${event.agent_id} registered: ${event.name}`;
    case "league_started":
      return `${event.league_id}: ${event.game}, ${counted(event.matches, "match", "matches")}`;
    case "match_completed": {
      const { league_id, match, faults, completed, matches, standings } = event;
      const players = Object.entries(match.roles).map(([role, id]) => `${nameIn(standings, id)} ${role}`);
      return `${league_id} ${match.match_id} (${players.join(", ")}): ${resultLine({ ...match, faults }, standings)} [${completed}/${matches}]`;
    }
    case "league_completed":
      return `${event.league_id}: completed`;
    case "player_state":
      return stateLine(event);
    case "league_waiting":
      return waitingLine(event.league_id, event.awaited);
    case "notice":
      return event.message;
    case "round_started":
    case "league_stuck": // whoever waits for the league says it, even without progress
    case "all_completed":
      return null;
  }
}

/** A bar and the standings of each league, drawn over at most twenty times a second. */
function drawnProgress(stream: NodeJS.WriteStream, clock: Clock): Progress {
  const leagues = new Map<string, LeagueShown>();
  let drawnLines = 0;
  let cancelDrawing: Cancel | null = null;

  const erase = (): void => {
    if (drawnLines > 0) stream.write(`\x1b[${drawnLines}A\x1b[0J`);
    drawnLines = 0;
  };
  const draw = (): void => {
    cancelDrawing = null;
    erase();
    const lines = [...leagues].map(([id, shown]) => cut(leagueLine(id, shown, stream), stream.columns || 80));
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
      if (event.type === "player_state") {
        const text = stateLine(event);
        return text === null ? undefined : line(text);
      }
      if (event.type === "league_waiting") leagues.set(event.league_id, { ...UNPLAYED, waiting: event.awaited });
      if (event.type === "league_started") {
        leagues.set(event.league_id, { ...UNPLAYED, matches: event.matches });
      }
      if (event.type === "match_completed" && !leagues.has(event.league_id)) {
        // A league that goes on was started by an earlier run.
        leagues.set(event.league_id, { ...UNPLAYED, round: event.match.round_id });
      }
      const shown = "league_id" in event ? leagues.get(event.league_id) : undefined;
      if (shown && event.type === "round_started") shown.round = event.round_id;
      if (shown && event.type === "match_completed") {
        const { completed, matches, standings } = event;
        Object.assign(shown, { completed, matches, standings });
      }
      redrawSoon();
    },
    end() {
      cancelDrawing?.();
      erase();
    },
  };
}

function leagueLine(id: string, shown: LeagueShown, stream: NodeJS.WriteStream): string {
  const name = styleText("bold", id.padEnd(12), { stream });
  if (shown.waiting) return `${name} waits: ${waitingText(shown.waiting)}`;
  const filled = Math.round((BAR_WIDTH * shown.completed) / Math.max(1, shown.matches));
  const bar =
    styleText("green", "━".repeat(filled), { stream }) + styleText("dim", "─".repeat(BAR_WIDTH - filled), { stream });
  const leaders = shown.standings.slice(0, 4).map((row) => `${row.rank}. ${row.display_name} ${row.points}`);
  return `${name} ${bar} ${shown.completed}/${shown.matches}  ${leaders.join("  ")}`;
}

/** A line that is longer than the terminal would wrap and spoil the redrawing; its colours are at its beginning. */
function cut(text: string, columns: number): string {
  let shown = text;
  while (widthOf(shown) >= columns) shown = shown.slice(0, -1);
  return shown;
}

/** A table of standings for people, the columns as wide as they need to be. */
export function standingsTable(title: string, standings: readonly Standing[]): string {
  const header = ["#", "Player", "", "Played", "Won", "Drawn", "Lost", "Points"];
  const rows = standings.map(({ rank, display_name, player_id, played, wins, draws, losses, points }) =>
    [rank, display_name, player_id, played, wins, draws, losses, points].map(String),
  );
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => widthOf(row[column] ?? ""))));
  const isText = (column: number): boolean => column === 1 || column === 2;
  const lines = [header, ...rows].map((row) =>
    row
      .map((cell, column) => {
        const space = " ".repeat((widths[column] ?? 0) - widthOf(cell));
        return isText(column) ? cell + space : space + cell;
      })
      .join("  ")
      .trimEnd(),
  );
  return [title, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** Columns of a text on a terminal. The library is loaded for what is not plain ASCII only: its patterns take 50 ms to compile. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  const { default: stringWidth } = require("string-width") as typeof import("string-width");
  return stringWidth(text);
}
