/**
 * The process `node scripts/bench/peers/boardgame-io-clients.ts FOLDER URL MATCHES`: clients of a server of boardgame.io over Socket.IO, two for each match.
 * They play this number of matches at the same time, and begin a new match after each. The answer to each message is the number of moves so far.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Client as GameClient, randomCell, ticTacToe } from "./tic-tac-toe.ts";

const [folder = "", server = "", matches = "1"] = process.argv.slice(2);
const load = createRequire(join(folder, "package.json"));
const { Client } = load("boardgame.io/client") as { Client(options: object): GameClient };
const { SocketIO } = load("boardgame.io/multiplayer") as { SocketIO(options: object): unknown };

let [moves, started] = [0, 0];
process.on("message", () => process.send?.(moves));
process.on("SIGTERM", () => process.exit());
process.on("disconnect", () => process.exit());
process.send?.({ type: "ready", url: "" });

function startMatch(): void {
  const matchID = `match-${started++}`;
  const clients = ["0", "1"].map((playerID) =>
    Client({ game: ticTacToe, debug: false, multiplayer: SocketIO({ server }), matchID, playerID }),
  );
  let ended = 0;
  for (const [player, client] of clients.entries()) {
    let isOver = false;
    /** The turn of this client's last move. The listener can be called several times in a turn. */
    let lastTurn = 0;
    client.subscribe((state) => {
      if (!state || isOver) return;
      if (state.ctx.gameover !== undefined) {
        isOver = true;
        ended++;
        if (ended < clients.length) return;
        setImmediate(() => {
          for (const one of clients) one.stop();
          startMatch();
        });
      } else if (state.ctx.currentPlayer === String(player) && state.ctx.turn !== lastTurn) {
        lastTurn = state.ctx.turn;
        moves++;
        // Not in the listener: the client is still applying the update.
        setImmediate(() => client.moves.clickCell(randomCell(state)));
      }
    });
    client.start();
  }
}
for (let match = 0; match < Number(matches); match++) startMatch();
