import { startTestHost } from "../../../referee/rest/testing/host.ts";
import { startGames } from "../../pages/servers.ts";
import { startReportedLeagues } from "../../testing/reported-leagues.ts";

/**
 * A process with the pages that are measured: a manager with leagues, and a game of chess. A number as a message reports as many results of `hundred`.
 * The id of a league as a message is answered with the next result of that league, which the measuring process sends to the manager. The answer holds
 * the result in a field, because a message with a `type`, which an envelope has, is no answer.
 */
const players = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `Player ${index + 1} of ${count}`);
/** Enough matches for the results that are measured. */
const CYCLES = { format_options: { cycles: 20 } };

process.on("disconnect", () => process.exit());
const leagues = await startReportedLeagues([
  { league_id: "hundred", game: "rps.v1", players: players(100), results: 500 },
  { league_id: "twenty", game: "rps.v1", players: players(20), results: 20 },
  { league_id: "four", game: "rps.v1", ...CYCLES, players: players(4), results: 2 },
  { league_id: "chess", game: "chess.v1", options: { max_plies: 80 }, players: ["White", "Black"] },
]);
const games = await startGames(await startTestHost(), ["chess"]);
process.on("message", async (asked: number | string) => {
  if (typeof asked === "string") return void process.send?.({ result: await leagues.nextResult(asked) });
  await leagues.report("hundred", asked);
  process.send?.({});
});
for (const url of [leagues.url, games.person.chess ?? ""]) process.send?.({ type: "ready", url });
