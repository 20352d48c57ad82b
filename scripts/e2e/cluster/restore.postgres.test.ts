import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { postgresProgram, sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import {
  agentsIn,
  callTool,
  cleanUp,
  eventually,
  league,
  newFolder,
  type Running,
  start,
} from "../../testing/processes.ts";
import { testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** A bot whose matches are long enough to be interrupted. */
const BOT = `
export default async ({ legal, random }) => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return random.pick(legal);
};
`;

test("after a restore to a moment before they registered, a player and a referee register again, and the league is played", async () => {
  const server = await sharedPostgres();
  const [database, restored] = [await server.createDatabase(), await server.createDatabase()];
  const folder = newFolder();
  const bot = join(folder, "bot.js");
  writeFileSync(bot, BOT);
  const { file, port, portAt } = await testLeague([], [{ league_id: "rps", game: "rps.v1", options: { best_of: 99 } }]);
  const manager = ["--manager", `http://127.0.0.1:${port}/mcp`];

  const serve = (url: string, data: string): Running => {
    const place = ["--port", String(port), "--data", join(folder, data), "--referees", "0", "--players", "3"];
    return start("scripts/league.ts", ["serve", file, ...place], { DATABASE_URL: url });
  };
  const enter = (name: string, index: number): Running => {
    const place = ["--port", String(portAt(10 + index)), "--data", join(folder, name)];
    return start("scripts/league.ts", ["join", bot, "--name", name, ...place, ...manager]);
  };
  const db = async (url: string, ...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await league(["db", ...args], { DATABASE_URL: url });
    expect([code, stderr]).toEqual([0, ""]);
  };

  await db(database, "migrate");
  const first = serve(database, "first");
  await first.line(/takes registrations/);
  const early = ["Ann", "Bob"].map((name, index) => enter(name, index));
  for (const player of early) await player.line(/registered/);
  const dump = join(folder, "league.dump");
  await db(database, "backup", dump);
  const referee = start("referee/main.ts", [
    "--port",
    String(portAt(1)),
    "--name",
    "Ref",
    "--data",
    join(folder, "Ref"),
    ...manager,
  ]);
  await referee.line(/registered/);
  const cat = enter("Cat", 2);
  await first.line(/R1M1/);
  first.signal("SIGKILL");
  await first.ended;
  // The manager ends soon after its command, and has its port until then.
  await eventually("the end of the first manager", () => agentsIn(join(folder, "first")).length === 0);

  const options = ["--exit-on-error", "--no-owner", "--no-privileges", "--dbname", restored, dump];
  await promisify(execFile)(postgresProgram("pg_restore"), options);
  const second = serve(restored, "second");
  await cat.line(/the manager did not know player:\S+ any more; registered again as player:\S+/);
  await referee.line(/the manager did not know referee:\S+ any more; registered again as referee:\S+/);
  await second.line(/^Every league is over/);
  const { value } = await callTool(port, "get_standings", { league_id: "rps" });
  const standings = value.standings as readonly { played: number }[];
  expect(standings.map(({ played }) => played)).toEqual([2, 2, 2]);
  await db(restored, "check");
});
