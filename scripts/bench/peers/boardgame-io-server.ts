/** The process `node scripts/bench/peers/boardgame-io-server.ts FOLDER PORT`: a server of boardgame.io, which keeps its matches in memory. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { ticTacToe } from "./tic-tac-toe.ts";

interface Library {
  Server(options: object): { run(port: number): Promise<unknown> };
  readonly Origins: { readonly LOCALHOST: unknown };
}

const [folder = "", port] = process.argv.slice(2);
const { Server, Origins } = createRequire(join(folder, "package.json"))("boardgame.io/server") as Library;
process.on("SIGTERM", () => process.exit());
process.on("disconnect", () => process.exit());
await Server({ games: [ticTacToe], origins: [Origins.LOCALHOST] }).run(Number(port));
process.send?.({ type: "ready", url: `http://127.0.0.1:${port}` });
