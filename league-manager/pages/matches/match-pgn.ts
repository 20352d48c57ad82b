import { withoutScore } from "#shared/games/chess/adjudication.ts";
import { type PgnGame, type PgnMove, type PgnResult, type PgnTermination, pgnOf } from "#shared/games/chess/pgn.ts";
import { DRAW } from "#shared/games/chess/terms.ts";
import { chess } from "#shared/games/chess.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { clocksAfterAction, startClocks, timeLeft } from "#shared/session/clocks.ts";
import { type Entry, parseEntry } from "#shared/session/entry.ts";
import { POINTS } from "#shared/session/verdict.ts";
import type { MatchFault } from "../../league/league.ts";
import { publicReason } from "../../league/outcome.ts";
import type { PlayedMatch } from "./match-replay.ts";

/** The fields of a completed match of chess that its PGN needs. */
export interface PgnMatch extends Pick<PlayedMatch, "roles" | "termination" | "reason" | "log"> {
  readonly league_id: string;
  readonly round_id: number;
  readonly options: unknown;
  readonly match_points: Readonly<Record<string, number>>;
  readonly faults: readonly MatchFault[];
}

/** Returns a completed match of chess as PGN. Throws if its log is not a log of chess. */
export function pgnOfMatch(match: PgnMatch, nameOf: (playerId: string) => string): string {
  const { white = "", black = "" } = match.roles;
  const entries = match.log.map(parseEntry);
  const [created] = entries;
  const clock = (created?.type === "created" && created.clock) || null;
  const options = chess.options.parse(created?.type === "created" ? created.options : (match.options ?? {}));
  const game: PgnGame = {
    event: match.league_id,
    startedAt: created?.at ?? null,
    round: String(match.round_id),
    white: nameOf(white),
    black: nameOf(black),
    result: resultOf(match.match_points[white], match.match_points[black]),
    termination: terminationOf(match),
    timeControl: clock && { initialMs: clock.initial_ms, incrementMs: clock.increment_ms },
    fen: options.fen,
    moves: [...openingMoves(options.moves), ...movesOf(entries, clock)],
    reason: publicReason(match).replaceAll("_", " "),
  };
  return pgnOf(game);
}

const openingMoves = (moves: string | undefined): readonly PgnMove[] =>
  (moves?.split(" ") ?? []).map((uci) => ({ uci }));

/** Returns the moves, in a match with clocks with the time that the mover has left after each move. */
function movesOf(entries: readonly Entry[], clock: TimeControl | null): readonly PgnMove[] {
  let clocks = clock && startClocks(clock, chess.roles);
  return entries.flatMap((entry) => {
    if (entry.type !== "acted") return [];
    clocks = clocksAfterAction(clocks, entry);
    const action = String(entry.action);
    if (action === DRAW) return []; // accepts an offer and is not a move
    const [, unit, value] = action.split(" ");
    const score = (unit === "cp" || unit === "mate") && { score: { unit, value: Number(value) } as const };
    const clockMs = clocks && { clockMs: timeLeft(clocks, entry.role) };
    return [{ uci: withoutScore(action), ...clockMs, ...score }];
  });
}

/** Returns the result by the points of both players. A forfeit of both, and an abort, have no result in PGN. */
function resultOf(white: number | undefined, black: number | undefined): PgnResult {
  if (white === POINTS.win) return "1-0";
  if (black === POINTS.win) return "0-1";
  return white === POINTS.draw ? "1/2-1/2" : "*";
}

/** The causes of faults that are a violation of the rules of chess or of the messages. */
const VIOLATIONS: readonly string[] = ["illegal_move", "bad_reply", "bot_error", "bad_json", "too_large"];

const ADJUDICATED: readonly string[] = ["move_limit", "resignation", "draw_adjudicated"];

/** Returns how a match ended, in the terms of PGN. The reasons that only an option of the league causes are adjudications. */
function terminationOf({ termination, reason, faults }: PgnMatch): PgnTermination {
  if (termination === "aborted") return "unterminated";
  if (termination === "normal") return ADJUDICATED.includes(reason) ? "adjudication" : "normal";
  const causes = faults.map(({ cause }) => cause);
  if (causes.some((cause) => VIOLATIONS.includes(cause))) return "rules infraction";
  if (causes.some((cause) => cause === "timeout" || cause === "clock")) return "time forfeit";
  return causes.includes("resigned") ? "normal" : "abandoned";
}
