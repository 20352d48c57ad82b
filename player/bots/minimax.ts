import type { Bot, Turn } from "../sdk.ts";
import { bestColumn } from "./strategies/connect-four.ts";
import { bestCells } from "./strategies/tic-tac-toe.ts";

/** Plays tic-tac-toe perfectly. In Connect Four it searches ahead; the limit is a number of positions, so that a run can be repeated with its seed. */
export default ((turn) => {
  const { game, view, random } = turn;
  if (game === "tic_tac_toe.v1") {
    return random.pick(bestCells((view as Turn<"tic_tac_toe.v1">["view"]).board));
  }
  return bestColumn((view as Turn<"connect_four.v1">["view"]).board);
}) satisfies Bot;
