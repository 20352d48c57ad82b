import { invariant } from "../../lib/result.ts";
import { checkGame, type Failure, type GameReport, OBLIGATIONS } from "../contract/check-game.ts";
import { type GameId, games } from "../registry.ts";
import { variantsOf } from "./variants.ts";

const reports = new Map<GameId, GameReport>();

/** Returns the violation of an obligation by a built-in game; null if it keeps the obligation or does not have it. Each game is checked once. */
export function violationOf(id: GameId, obligation: string): Failure | "skipped" | null {
  const report = reports.get(id) ?? checkGame(games[id], variantsOf(id));
  reports.set(id, report);
  invariant(
    obligation === "plays" || OBLIGATIONS.some((one) => one.id === obligation),
    `there is no obligation ${obligation}`,
  );
  const checked = report.obligations.find((one) => one.id === obligation);
  return checked?.status === "skipped" ? "skipped" : (checked?.failure ?? null);
}
