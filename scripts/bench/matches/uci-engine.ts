/**
 * A UCI engine for measurements: it plays a recorded game and writes as many lines as an engine does in a short search, without the cost of a search.
 * It can only play matches that begin in the initial position.
 */
import { createInterface } from "node:readline";

/** Fischer against Petrosian, Buenos Aires 1971, game 3, without its last moves. */
const GAME =
  "e2e4 e7e6 d2d4 d7d5 b1c3 f8b4 e4e5 c7c5 a2a3 b4c3 b2c3 g8e7 d1g4 d8c7 g4g7 h8g8 g7h7 c5d4 g1e2 b8c6 f2f4 c8d7 h7d3 d4c3".split(
    " ",
  );
const INFO = Array.from(
  { length: 8 },
  (_, depth) =>
    `info depth ${depth + 1} seldepth ${depth + 3} multipv 1 score cp ${30 - depth} nodes ${60 * depth + 20} nps 500000 hashfull 0 tbhits 0 time 1 pv ${GAME.slice(0, depth + 2).join(" ")}`,
).join("\n");

let plies = 0;
createInterface({ input: process.stdin }).on("line", (line) => {
  const [command, start, word, ...moves] = line.split(" ");
  if (command === "uci") process.stdout.write("id name recorded game\nuciok\n");
  if (command === "isready") process.stdout.write("readyok\n");
  if (command === "position") plies = start === "startpos" && word === "moves" ? moves.length : 0;
  if (command === "go") process.stdout.write(`${INFO}\nbestmove ${GAME[plies]}\n`);
  if (command === "quit") process.exit();
});
