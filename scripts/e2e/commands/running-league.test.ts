import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { cleanUp, league, start } from "../../testing/processes.ts";
import { RPS, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

it("an operator pauses, extends and resumes a running league, adds a player, annuls a match and follows the events", async () => {
  const [rps] = RPS;
  const test = await testLeague([], [{ ...rps, league_id: "rps", late_entry: "makeup" }]);
  const data = join(test.folder, "data");
  const operator = (...args: string[]) => league([...args, "--data", data]);
  const served = start("scripts/league.ts", ["serve", test.file]);
  await served.line(/takes registrations at /);
  const enter = async (index: number, name: string, bot: string) => {
    const options = ["--name", name, "--port", String(test.portAt(10 + index)), "--data", join(test.folder, name)];
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    const player = start("scripts/league.ts", ["join", bot, ...options, ...manager]);
    await player.line(/registered as P0/);
    return player;
  };
  // A manual player makes no move, so the first match stays open.
  await enter(0, "Ann", "manual");
  await enter(1, "Bob", "cycle");

  expect((await operator("status")).stdout).toMatch(/^rps: open, rps\.v1, round-robin\n {2}late_entry: makeup\n/);
  for (const command of ["pause", "resume"])
    expect(await operator(command, "rps")).toMatchObject({
      code: 1,
      stderr: `league rps is open; only a running league can be ${command}d\n`,
    });
  expect(await operator("start", "rps")).toMatchObject({ code: 0 });
  const follower = start("scripts/league.ts", ["logs", "rps", "--follow", "--data", data]);
  expect(await operator("pause", "rps")).toMatchObject({
    code: 0,
    stdout: `rps is paused; continue it with: npm run league -- resume rps --data ${data}\n`,
  });
  expect((await operator("status", "rps")).stdout).toContain("rps: paused,");
  expect(await operator("extend", "rps", "cycles=2")).toMatchObject({
    code: 0,
    stdout: "rps is extended: cycles=2\n",
  });
  expect(await operator("extend", "rps", "cycles=2")).toMatchObject({
    code: 0,
    stdout: "rps is not extended, because it already has cycles=2\n",
  });
  expect(await operator("extend", "rps", "cycles=two")).toMatchObject({ code: 2 });
  await enter(2, "Eve", "random");
  expect(await operator("annul", "R1M1", "--league", "rps", "--reason", "a rehearsal")).toMatchObject({
    code: 0,
    stdout: "rps R1M1 is annulled\n",
  });
  for (const [reason, rejected] of [
    ["", { code: 2, stderr: "--reason must not be empty\n" }],
    [
      "x".repeat(301),
      { code: 1, stderr: expect.stringMatching(/^http\S+ has not executed the request: JSON-RPC error/) },
    ],
  ] as const)
    expect(await operator("annul", "R1M1", "--league", "rps", "--reason", reason)).toMatchObject(rejected);
  expect(await operator("status", "nope")).toMatchObject({ code: 2, stderr: "no league nope; there are rps\n" });
  expect(await operator("add", "Eva", "--league", "rps")).toMatchObject({
    code: 1,
    stderr: "no player Eva is in a league: give the id or the name that league status shows\n",
  });
  expect(await operator("add", "Eve", "--league", "rps")).toMatchObject({ code: 0, stdout: "P03 is in rps\n" });
  const shown = await operator("status", "rps", "--json");
  expect(shown.stderr).toBe("");
  const status = JSON.parse(shown.stdout);
  expect(status.leagues).toMatchObject([{ status: "paused", format_options: { cycles: 2, makeup: true } }]);
  expect(status.leagues[0].players).toHaveLength(3);
  expect(await operator("remove", "Ann")).toMatchObject({ code: 0 });
  expect(await operator("resume", "rps")).toMatchObject({ code: 0, stdout: "rps continues\n" });

  const { code, stdout } = await follower.ended;
  expect(code).toBe(0);
  const types = stdout
    .trim()
    .split("\n")
    .map((line) => line.split(" ")[1]);
  expect(types).toEqual(expect.arrayContaining(["paused", "extended", "player_entered", "match_annulled", "resumed"]));
  expect(types.at(-1)).toBe("completed");
  // Bob and Eve play twice. The matches of Ann, who has left, are not paired.
  const logged = await operator("logs", "rps");
  expect(logged.stdout).toMatch(/ match_completed match_id=R\d+M1 .*"P02":/);

  const folder = join(test.folder, "exported");
  expect(await league(["export", data, "--out", folder])).toMatchObject({ code: 0 });
  const verified = await league(["verify", folder]);
  expect(verified.code, verified.stderr).toBe(0);
  expect(verified.stdout).toContain("rps/R1M1 was annulled by the operator: a rehearsal");
});

it("an operator ends a running league early, and verify lists the end", async () => {
  const [rps] = RPS;
  const test = await testLeague([], [{ ...rps, league_id: "rps" }]);
  const data = join(test.folder, "data");
  const operator = (...args: string[]) => league([...args, "--data", data]);
  const served = start("scripts/league.ts", ["serve", test.file]);
  await served.line(/takes registrations at /);
  // Manual players make no move, so the only match stays open.
  for (const [index, name] of ["Ann", "Bob"].entries()) {
    const options = ["--name", name, "--port", String(test.portAt(10 + index)), "--data", join(test.folder, name)];
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    await start("scripts/league.ts", ["join", "manual", ...options, ...manager]).line(/registered as P0/);
  }
  expect(await operator("end")).toMatchObject({ code: 1, stderr: "no league is running\n" });
  expect(await operator("end", "rps")).toMatchObject({
    code: 1,
    stderr: "league rps is open; only a running league can be ended\n",
  });
  expect(await operator("start", "rps")).toMatchObject({ code: 0 });
  const follower = start("scripts/league.ts", ["logs", "rps", "--follow", "--data", data]);
  expect(await operator("end")).toMatchObject({
    code: 0,
    stdout: "rps is ended; its open matches are cancelled\n",
  });
  const { stdout } = await follower.ended;
  expect(stdout).toMatch(/ pairing_completed by=operator\n.* match_cancelled match_id=R1M1 /);
  expect((await operator("status", "rps")).stdout).toMatch(/^rps: completed, .*\n.*1 match completed, 0 being played/);

  const folder = join(test.folder, "exported");
  expect(await league(["export", data, "--out", folder])).toMatchObject({ code: 0 });
  const verified = await league(["verify", folder]);
  expect(verified.code, verified.stderr).toBe(0);
  expect(verified.stdout).toContain("rps was ended by the operator");
});
