import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter } from "#shared/store/writer.ts";
import { MANAGER_SCHEMA, managerStore, openRun, readRun } from "../../../league-manager/store/manager-store.ts";
import { cleanUp, type Ended, eventually, league, type Running, start } from "../../testing/processes.ts";
import { RPS, runFolders, type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const REJECTED =
  /--seed 7: programs that this command does not start may enter .* e\.g\. --seed ([\da-f]{64}), or omit/;

/** Expects that a command has rejected its seed, without a stack trace, and returns the seed that it proposes. */
function proposedBy({ code, stdout, stderr }: Ended): string {
  expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: "" });
  const [, seed = ""] = REJECTED.exec(stderr) ?? [];
  expect(seed, stderr).not.toBe("");
  return seed;
}

const serve = ({ file }: TestLeague, ...flags: string[]): Running =>
  start("scripts/league.ts", ["serve", file, ...flags]);

/** Calls `read` with the store of a league that was served. */
async function withStore<T>({ folder }: TestLeague, read: (store: ReturnType<typeof managerStore>) => Promise<T>) {
  const db = openSqlite(join(folder, "data", "league-manager.sqlite"), MANAGER_SCHEMA);
  const result = await read(managerStore(db, localWriter(db, systemClock)));
  db.close();
  return result;
}

async function stop(running: Running): Promise<void> {
  running.signal("SIGINT");
  expect((await running.ended).code).toBe(130);
}

describe("a short seed", () => {
  it("is rejected by league serve, which then works with the proposed seed in the same folder", async () => {
    const test = await testLeague([], RPS);
    const seed = proposedBy(await serve(test, "--seed", "7").ended);
    const served = serve(test, "--seed", seed);
    await served.line(/takes registrations at /);
    await stop(served);
    expect(await withStore(test, readRun)).toMatchObject({ seed });
  });

  it("remains the seed of a served folder that has it", async () => {
    const test = await testLeague([], RPS);
    await withStore(test, (store) => openRun(store, { seed: "7", isOpen: false }, systemIds));
    const served = serve(test, "--seed", "7");
    await served.line(/takes registrations at /);
    await stop(served);
    expect(await withStore(test, readRun)).toMatchObject({ seed: "7" });
  });

  it("is rejected by a manager that is started alone, also with --roster if an endpoint is listed", async () => {
    const players = [{ name: "Listed", endpoint: "http://127.0.0.1:9/mcp" }];
    const test = await testLeague([], RPS, { config: { players } });
    const options = ["--config", test.file, "--data", join(test.folder, "data"), "--seed", "7"];
    proposedBy(await start("league-manager/main.ts", options).ended);
    proposedBy(await start("league-manager/main.ts", [...options, "--roster"]).ended);
  });

  it.each([
    ["an endpoint", { endpoint: "http://127.0.0.1:9/mcp" }],
    ["a player that registers itself", { self: true }],
    ["a person", { human: true }],
  ])("is rejected by league run if its config has %s, and no run is begun", async (_, player) => {
    const players = [
      { name: "Bot", bot: "random" },
      { name: "Other", ...player },
    ];
    const test = await testLeague([], RPS, { config: { players } });
    proposedBy(await league(["run", test.file, "--seed", "7"]));
    expect(runFolders(test)).toEqual([]);
  });

  it("is accepted by league run if the command starts all players", async () => {
    const test = await testLeague(["random", "cycle"], RPS);
    const { code, stderr } = await league(["run", test.file, "--seed", "7", "--quiet"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("is not what league match draws with a player at a URL", async () => {
    const test = await testLeague([], RPS);
    const options = ["--game", "rps", "--data", join(test.folder, "data")];
    start("scripts/league.ts", ["match", "random", "http://127.0.0.1:9/mcp", ...options]);
    await eventually("the folder of the run", () => runFolders(test).length > 0);
  });

  it("is rejected by league match with a player at a URL, and accepted without one", async () => {
    const test = await testLeague([], RPS);
    const data = join(test.folder, "match");
    const options = ["--game", "rps", "--games", "2", "--seed", "7", "--data", data];
    proposedBy(await league(["match", "random", "http://127.0.0.1:9/mcp", ...options, "--quiet"]));
    expect(existsSync(data)).toBe(false);
    const { code, stdout, stderr } = await league(["match", "random", "cycle", ...options]);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("2 of 2 games, seed 7\n");
  });
});
