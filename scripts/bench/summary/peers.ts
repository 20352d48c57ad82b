import type { Rate } from "../process.ts";
import type { Round } from "../rates.ts";
import type { Aim, MedianOf, RateRow, Summary } from "./figures.ts";

/** The rows of this project and of other software that plays the same game. */
export function peerRows(rateRow: RateRow, rounds: readonly Round[]): Summary["rows"] {
  const match = rateRow("w  tic-tac-toe, league match", ({ peers }) => peers.match, "with a log on disk");
  const league = rateRow("w  tic-tac-toe, league of two players", ({ peers }) => peers.league, "with a log on disk");
  if (rounds.some(({ peers }) => peers.boardgameIo === null)) return [match, league];
  const boardgameIo = (form: "local" | "socket") =>
    rateRow(`w  tic-tac-toe, boardgame.io ${form}`, ({ peers }) => peers.boardgameIo?.[form] as Rate, "log in memory");
  return [match, boardgameIo("local"), league, boardgameIo("socket")];
}

/** The cost of a move relative to boardgame.io. */
export function peerAims(medianOf: MedianOf, rounds: readonly Round[]): readonly Aim[] {
  const isMeasured = rounds.every(({ peers }) => peers.boardgameIo !== null);
  const aim = (text: string, ratioOf: (peers: Round["peers"]) => number): Aim => ({
    aim: `w  CPU time of a move, relative to ${text}`,
    measured: isMeasured
      ? `${medianOf(({ peers }) => ratioOf(peers)).toFixed(2)} times`
      : "npm cannot install boardgame.io",
    isMet: null,
  });
  return [
    aim(
      "a local client of boardgame.io",
      ({ match, boardgameIo }) => match.cpuTotal / (boardgameIo?.local.cpuTotal ?? 1),
    ),
    aim(
      "boardgame.io over Socket.IO",
      ({ league, boardgameIo }) => league.cpuTotal / (boardgameIo?.socket.cpuTotal ?? 1),
    ),
  ];
}
