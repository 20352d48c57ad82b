import type { Rate } from "../process.ts";
import type { Round } from "../rates.ts";
import type { Aim, MedianOf, RateRow, Summary } from "./figures.ts";

/** The rows of this project and of other software that plays the same game. */
export function peerRows(rateRow: RateRow, rounds: readonly Round[]): Summary["rows"] {
  const own = rateRow("w  tic-tac-toe, league match", ({ peers }) => peers.match, "with a log on disk");
  if (rounds.some(({ peers }) => peers.boardgameIo === null)) return [own];
  return [own, rateRow("w  tic-tac-toe, boardgame.io", ({ peers }) => peers.boardgameIo as Rate, "log in memory")];
}

/** The cost of a move relative to boardgame.io. */
export function peerAim(medianOf: MedianOf, rounds: readonly Round[]): Aim {
  const isMeasured = rounds.every(({ peers }) => peers.boardgameIo !== null);
  const ratio = medianOf(({ peers: { match, boardgameIo } }) => match.cpuTotal / (boardgameIo?.cpuTotal ?? 1));
  return {
    aim: "w  CPU time of a move, relative to a local client of boardgame.io",
    measured: isMeasured ? `${ratio.toFixed(2)} times` : "npm cannot install boardgame.io",
    isMet: null,
  };
}
