import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import { callTool, cleanUp, league, type Running, STACK_LINE, start } from "../../testing/processes.ts";
import { RPS, type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

let database: string;
let test: TestLeague;

beforeEach(async () => {
  database = await (await sharedPostgres()).createDatabase();
  test = await testLeague([], RPS);
});

const migrate = async (): Promise<void> => {
  const { code, stderr } = await league(["db", "migrate"], { DATABASE_URL: database });
  expect([code, stderr]).toEqual([0, ""]);
};

/** Starts a manager with a data folder and a port of its own. The first one also starts the referee of the config. */
const serve = (number: number, ...flags: readonly string[]): Running => {
  const place = ["--data", join(test.folder, `data-${number}`), "--port", String(portOf(number))];
  const referees = number === 0 ? [] : ["--referees", "0"];
  return start("scripts/league.ts", ["serve", test.file, ...place, ...referees, "--players", "2", ...flags], {
    DATABASE_URL: database,
  });
};
const portOf = (number: number): number => test.portAt(5 + number);
const tokenOf = (number: number): string => readFileSync(join(test.folder, `data-${number}`, "operator-token"), "utf8");

describe("league serve --database", () => {
  it("runs several managers of one league, at which players, results and the operator token are the same", async () => {
    await migrate();
    const managers = [serve(0), serve(1)];
    for (const [number, manager] of managers.entries()) await manager.line(new RegExp(`at .*:${portOf(number)}/mcp`));
    const players = ["Ann", "Bob"].map((name, number) => {
      const place = ["--port", String(test.portAt(10 + number)), "--data", join(test.folder, name)];
      const url = `http://127.0.0.1:${portOf(number)}/mcp`;
      return start("scripts/league.ts", ["join", "random", "--name", name, ...place, "--manager", url]);
    });
    for (const manager of managers) await manager.line(/^Every league is over. The standings stay on the page.$/);
    for (const player of players) await player.line(/rps is over: rank [12] of 2/);
    const standings = (number: number) => callTool(portOf(number), "get_standings", { league_id: "rps" });
    expect(await standings(1)).toEqual(await standings(0));
    expect(tokenOf(1)).toBe(tokenOf(0));
    expect(managers[0]?.stderr()).not.toContain(new URL(database).password);
    for (const running of [...managers, ...players]) running.signal("SIGINT");
    for (const { ended } of managers) {
      const { code, stderr } = await ended;
      expect(stderr).not.toMatch(STACK_LINE);
      expect(code).toBe(130);
    }
  });

  it("rejects a short seed for a new run, and ignores the seed of a manager that continues it", async () => {
    await migrate();
    const { code, stderr } = await serve(0, "--seed", "7").ended;
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^league manager: --seed 7: programs .* --seed [\da-f]{64}/m),
    ]);
    await serve(0).line(/takes registrations/);
    await serve(1, "--seed", "7").line(/takes registrations/);
  });

  it("without tables names the command that creates them", async () => {
    const { code, stderr } = await serve(0).ended;
    expect(stderr).toMatch(/league manager: the database has no tables of a league; .* run "league db migrate"/);
    expect([code, STACK_LINE.test(stderr)]).toEqual([1, false]);
  });

  it("rejects a data folder or a port that another manager uses", async () => {
    await migrate();
    await serve(1).line(/takes registrations/);
    const sameFolder = await serve(1, "--port", String(portOf(2))).ended;
    expect(sameFolder.stderr).toMatch(/data-1 is served by another process/);
    const samePort = await serve(2, "--port", String(portOf(1))).ended;
    expect(samePort.stderr).toMatch(new RegExp(`port ${portOf(1)} on 127.0.0.1 is already in use`));
    const manager = start("league-manager/main.ts", ["--config", test.file, "--data", join(test.folder, "data-3")], {
      DATABASE_URL: database,
    });
    await manager.line(/league manager at/);
    const args = ["--config", test.file, "--data", join(test.folder, "data-3"), "--port", "0", "--database", database];
    const second = await start("league-manager/main.ts", args).ended;
    expect(second.stderr).toMatch(/data-3 is used by another manager: name another folder with --data/);
    const roster = await start("league-manager/main.ts", [...args, "--roster"]).ended;
    expect([roster.code, roster.stderr]).toEqual([2, "league-manager: name either --roster or --database\n"]);
  });

  it("a database without a server is reported in one line without the password", async () => {
    const wrong = "postgres://league:secret-word@127.0.0.1:1/league";
    const args = ["--config", test.file, "--data", join(test.folder, "data-4"), "--database", wrong];
    const { code, stderr } = await start("league-manager/main.ts", args).ended;
    expect([code, stderr]).toEqual([
      1,
      "league-manager: no PostgreSQL server listens at 127.0.0.1:1: start it, or correct the address\n",
    ]);
  });
});
