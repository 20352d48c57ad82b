/** The public API of the package `agent-league/game`, for authors of games. */
export { z } from "zod";
export { err, ok, type Result } from "../lib/result.ts";
export { createRandom, type Random } from "../lib/rng.ts";
export type { BoardKind, Game, GameInfo, Illegal, Outcome, Role, RoundSummary, Team, Viewer } from "./game.ts";
