import { startTestHost } from "../../../referee/rest/testing/host.ts";
import { startGames } from "../../pages/games.ts";
import { startReportedLeagues } from "../../testing/reported-leagues.ts";

/** A process with the pages that are measured: a manager with the leagues `hundred` and `chess`, and a game of chess. A number as a message reports as many results of `hundred`. */
const PLAYERS = Array.from({ length: 100 }, (_, index) => `Player ${index + 1}`);

process.on("disconnect", () => process.exit());
const leagues = await startReportedLeagues([
  { league_id: "hundred", game: "rps.v1", players: PLAYERS, results: 500 },
  { league_id: "chess", game: "chess.v1", options: { max_plies: 80 }, players: ["White", "Black"] },
]);
const games = await startGames(await startTestHost(), ["chess"]);
process.on("message", async (count: number) => {
  await leagues.report("hundred", count);
  process.send?.({});
});
for (const url of [leagues.url, games.person.chess ?? ""]) process.send?.({ type: "ready", url });
