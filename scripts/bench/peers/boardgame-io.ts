/**
 * The process `node scripts/bench/peers/boardgame-io.ts FOLDER`, which plays games of tic-tac-toe with random moves in a local client of boardgame.io
 * until it is stopped. The package is installed in FOLDER. Its answer to each message is the number of moves so far.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Client as GameClient, randomCell, type State, ticTacToe } from "./tic-tac-toe.ts";

const [folder = ""] = process.argv.slice(2);
const { Client } = createRequire(join(folder, "package.json"))("boardgame.io/client") as {
  Client(options: object): GameClient;
};
let moves = 0;
process.on("message", () => process.send?.(moves));
process.on("SIGTERM", () => process.exit());
process.on("disconnect", () => process.exit());
process.send?.({ type: "ready", url: "" });

/** Plays one game, and then lets the process answer its messages. */
function playGame(): void {
  const client = Client({ game: ticTacToe, debug: false });
  client.start();
  for (let state = client.getState() as State; state.ctx.gameover === undefined; state = client.getState() as State) {
    client.moves.clickCell(randomCell(state));
    moves++;
  }
  client.stop();
  setImmediate(playGame);
}
playGame();
