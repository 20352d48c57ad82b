import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { cleanUp, league, newFolder, start } from "../../testing/processes.ts";
import { RPS, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** A manual player makes no move, so the match and the league stay open. */
const PLAYERS = [
  { name: "Ann", bot: "manual" },
  { name: "Bob", bot: "random" },
  { name: "Cas", bot: "random" },
];

describe("the commands of the operator", () => {
  it("removes a player, starts a league, adds a match and resets a token", async () => {
    const test = await testLeague([], RPS);
    const data = join(test.folder, "data");
    const operator = (...args: string[]) => league([...args, "--data", data]);
    const served = start("scripts/league.ts", ["serve", test.file]);
    await served.line(/takes registrations at /);
    for (const [index, { name, bot }] of PLAYERS.entries()) {
      const port = String(test.portAt(10 + index));
      const options = ["--name", name, "--port", port, "--data", join(test.folder, name)];
      const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
      const player = start("scripts/league.ts", ["join", bot, ...options, ...manager]);
      await player.line(/registered as P0/);
    }

    expect(await operator("remove", "P03")).toMatchObject({ code: 0, stdout: "P03 is removed\n" });
    expect(await operator("start", "rps")).toMatchObject({ code: 0, stdout: "rps has started\n" });
    expect(await operator("schedule", "P01", "P02", "--round", "2", "--league", "rps")).toMatchObject({
      code: 0,
      stdout: "rps R2M1 is scheduled for round 2\n",
    });
    const reset = await operator("reset-token", "Bob");
    expect(reset.stdout).toMatch(/^The new token of P02 is [\w-]{43}\nWrite it into the file tokens\/player-NAME /);
    expect(await operator("start", "rps")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^.+\n$/),
    });
    expect(await operator("remove", "P09")).toMatchObject({ code: 1, stderr: expect.stringContaining("P09") });
    served.signal("SIGINT");
    await served.ended;
    expect(await operator("start", "rps")).toMatchObject({
      code: 1,
      stderr: `http://127.0.0.1:${test.port}/mcp: no answer (connection refused). Is the manager running?\n`,
    });
  });

  it("erases a player while the manager runs, also in its log, and the manager starts again", async () => {
    const test = await testLeague([], RPS);
    const data = join(test.folder, "data");
    const served = start("scripts/league.ts", ["serve", test.file]);
    await served.line(/takes registrations at /);
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    for (const [index, name] of ["Ann", "Zuzana"].entries()) {
      const options = ["--name", name, "--port", String(test.portAt(10 + index)), "--data", join(test.folder, name)];
      await start("scripts/league.ts", ["join", "random", ...options, ...manager]).line(/registered as P0/);
    }
    expect(await league(["start", "rps", "--data", data])).toMatchObject({ code: 0 });
    await served.line(/rps: completed/);
    // The manager writes its log asynchronously.
    await vi.waitFor(async () => {
      const { code, stdout } = await league(["personal-data", "Zuzana", "--data", data]);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^ {2}log .*league-manager\.log: \d+ mention/m)]);
    }, WAIT_OPTIONS);
    const forgotten = await league(["forget", "Zuzana", "--data", data]);
    expect([forgotten.code, forgotten.stdout]).toEqual([0, expect.stringContaining("P02 is erased in ")]);
    const files = readdirSync(data, { recursive: true, encoding: "utf8" }).filter((name) =>
      statSync(join(data, name)).isFile(),
    );
    expect(files.filter((name) => readFileSync(join(data, name)).includes("Zuzana"))).toEqual([]);
    const page = await fetch(`http://127.0.0.1:${test.port}/`);
    expect(await page.text()).not.toContain("Zuzana");
    expect(await league(["forget", "P01", ...manager, "--data", data])).toMatchObject({ code: 0 });
    served.signal("SIGINT");
    await served.ended;
    const again = start("scripts/league.ts", ["serve", test.file]);
    await again.line(/takes registrations at |completed/);
  });

  it("requires the operator token, in the data folder or in LEAGUE_TOKEN", async () => {
    const test = await testLeague([], RPS);
    const empty = newFolder();
    expect(await league(["start", "rps", "--data", empty])).toMatchObject({
      code: 2,
      stderr: `${join(empty, "operator-token")}: no such file; --data names the data folder of the manager\n`,
    });
    const served = start("scripts/league.ts", ["serve", test.file]);
    await served.line(/takes registrations at /);
    writeFileSync(join(empty, "operator-token"), "another-token-of-32-characters-xxxxxxxx");
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    expect(await league(["start", "rps", "--data", empty, ...manager])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the operator token is missing or wrong; .* --data FOLDER\n$/),
    });
    const LEAGUE_TOKEN = readFileSync(join(test.folder, "data", "operator-token"), "utf8").trim();
    expect(await league(["remove", "P09", "--data", empty, ...manager], { LEAGUE_TOKEN })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("P09"),
    });
  });
});
