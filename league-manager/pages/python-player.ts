import { readFile } from "node:fs/promises";
import type { Express } from "express";
import { invariant } from "#shared/lib/result.ts";
import { bareHost, isLoopback } from "#shared/protocol/addresses.ts";
import { originOf } from "#shared/rpc/http/request.ts";
import type { PagesContext } from "./routes.ts";

/** The starter of `league new-bot --lang py`, which needs only Python. */
const PYTHON_STARTER = new URL("../../scripts/starters/py/", import.meta.url);

/** The texts of join.py that name the arguments for the address, and what stands in their place. */
const JOIN_USAGE = "usage: python3 join.py http://ADDRESS:8000/mcp [NAME [PORT [JOIN_CODE]]]";
const BOT_IMPORTS = "from bot import GAMES, choose\n";
const JOIN_CODE = '"join_code": join_code}';

/**
 * Adds the files with which a student joins a league without this project: `join.py`, in which the address of the manager and the league are filled in,
 * and a bot for the game of the league. Neither contains the join code.
 */
export function addPythonPlayer(app: Express, { views, joining }: PagesContext): void {
  app.get("/leagues/:league/:file", async (request, response, next) => {
    const { league: leagueId, file } = request.params;
    const league = views.projections.league(leagueId);
    if (!league || (file !== "join.py" && file !== "bot.py") || !joining.takesPlayers(league)) return next();
    const text = await readFile(new URL(file, PYTHON_STARTER), "utf8");
    const manager = `${addressFor(originOf(request), joining.addresses())}/mcp`;
    const filledIn = file === "join.py" ? joinProgram(text, manager, leagueId) : botProgram(text, league.game);
    response
      .set({ "content-disposition": `attachment; filename="${file}"`, "cache-control": "no-store" })
      .type("text/x-python; charset=utf-8")
      .send(filledIn);
  });
}

/** The address for other machines: that of the page, unless it was opened on the machine of the manager. */
function addressFor(origin: string, addresses: readonly string[]): string {
  const isLocal = (address: string): boolean => isLoopback(bareHost(new URL(address)));
  return isLocal(origin) ? (addresses.find((address) => !isLocal(address)) ?? origin) : origin;
}

/** Fills the address and the league into join.py. A text in JSON is a text in Python too. */
const joinProgram = (text: string, manager: string, leagueId: string): string =>
  [
    [
      BOT_IMPORTS,
      `${BOT_IMPORTS}MANAGER, LEAGUE = ${JSON.stringify(manager)}, ${JSON.stringify(leagueId)}\nsys.argv.insert(1, MANAGER)\n`,
    ],
    [JOIN_USAGE, "usage: python3 join.py NAME [PORT [JOIN_CODE]]"],
    [JOIN_CODE, '"join_code": join_code, "league_ids": [LEAGUE]}'],
  ].reduce((filled, [from = "", to = ""]) => replaced(filled, from, to), text);

const botProgram = (text: string, game: string): string =>
  replaced(text, 'GAMES = ["rps.v1"]', `GAMES = [${JSON.stringify(game)}]`);

function replaced(text: string, from: string, to: string): string {
  invariant(text.includes(from), `the starter in Python contains ${from}`);
  return text.replace(from, () => to);
}
