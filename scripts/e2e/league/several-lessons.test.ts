import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { agentsIn, callTool, cleanUp, eventually, kill, league, pidOf, start } from "../../testing/processes.ts";
import { testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const LESSON = { league_id: "lesson-1", game: "rps.v1", options: { best_of: 3 } };
const OVER = ["lesson-1", "lesson-2"].map((league_id) => ({ league_id, status: "completed", players: 2 }));

/** Starts a league of one lesson and returns the commands of its operator and of its players. */
async function startLesson() {
  const test = await testLeague([], [LESSON]);
  const data = join(test.folder, "data");
  const served = start("scripts/league.ts", ["serve", test.file]);
  await served.line(/takes registrations at /);
  const enter = (name: string, index: number, ...more: readonly string[]) => {
    const place = ["--name", name, "--port", String(test.portAt(10 + index)), "--data", join(test.folder, `d${index}`)];
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    return start("scripts/league.ts", ["join", "random", ...place, ...manager, ...more]);
  };
  const operator = (...args: string[]) => league([...args, "--data", data]);
  return { test, data, served, enter, operator };
}

it("two players play a second lesson without a restart of their commands, also after the manager was killed", async () => {
  const { test, data, served, enter, operator } = await startLesson();
  const players = ["Ann", "Bob"].map((name, index) => enter(name, index));
  for (const player of players) await player.line(/registered as P0[12] in lesson-1/);
  const open = (id: string, like: string) => operator("open", id, "--like", like);
  expect(await open("lesson-2", "lesson-1")).toMatchObject({
    code: 2,
    stderr: "league lesson-1 is open: a league like it can be opened when it is over\n",
  });
  expect(await operator("start", "lesson-1")).toMatchObject({ code: 0 });
  await served.line(/^Every league is over\. .* open NEW --like lesson-1 --data /);
  const waits = (lesson: string) =>
    new RegExp(`: ${lesson} is over\\. Waiting for the next league that is opened at http`);
  for (const player of players) await player.line(waits("lesson-1"));

  for (const [id, like, stderr] of [
    ["lesson-2", "nope", "no league nope; there are lesson-1\n"],
    ["lesson-1", "lesson-1", "the name lesson-1 is in use: a league of this run has it; choose another\n"],
    ["lesson 2", "lesson-1", expect.stringContaining("use letters, digits, dot, dash and underscore")],
  ] as const)
    expect(await open(id, like)).toMatchObject({ code: 2, stdout: "", stderr });
  expect(await open("lesson-2", "lesson-1")).toMatchObject({
    code: 0,
    stdout: `lesson-2 is open for registration, with the settings that the config gives lesson-1; start it with: npm run league -- start lesson-2 --data ${data}\n`,
  });
  kill(pidOf(test.folder, "league-manager/main.ts"), "SIGKILL");
  for (const player of players) await player.line(/: registered in lesson-2$/);
  expect(await operator("start", "lesson-2")).toMatchObject({ code: 0 });
  await served.line(/^lesson-2: completed$/);
  for (const player of players) await player.line(waits("lesson-2"));

  const before = pidOf(test.folder, "league-manager/main.ts");
  kill(before, "SIGKILL");
  await eventually("another manager", () =>
    agentsIn(test.folder).some(
      ({ pid, args }) => pid !== before && args.some((arg) => arg.endsWith("manager/main.ts")),
    ),
  );
  const shown = async () => (await callTool(test.port, "list_leagues", {}).catch(() => null))?.value.leagues;
  await eventually("the answer of the manager", async () => (await shown()) !== undefined);
  expect(await shown()).toMatchObject(OVER);
  expect((await operator("status")).stdout).toMatch(/^lesson-1: completed, (?:.*\n)*lesson-2: completed, /m);
  const origin = `http://127.0.0.1:${test.port}`;
  expect(await (await fetch(`${origin}/leagues`)).text()).toContain("/leagues/lesson-2");
  expect(await (await fetch(`${origin}/api/leagues/lesson-2`)).json()).toMatchObject({ league: { completed: 1 } });
  for (const player of players) player.signal("SIGINT");
  for (const { ended } of players) expect((await ended).code).toBe(130);

  const folder = join(test.folder, "exported");
  expect(await league(["export", data, "--out", folder])).toMatchObject({ code: 0 });
  const verified = await league(["verify", folder]);
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
  expect(verified.stdout).toContain("2 matches replayed");
});

it("a player that comes too late waits for the next lesson, and a wrong league or a name in use ends the command with code 2", async () => {
  const { served, enter, operator } = await startLesson();
  const players = ["Ann", "Bob"].map((name, index) => enter(name, index, "--league", "lesson-1"));
  for (const player of players) await player.line(/registered as P0[12] in lesson-1/);
  for (const [name, league, reason] of [
    ["Cid", "nope", "no league nope; there are lesson-1"],
    ["Ann", "lesson-1", "the name Ann is already registered"],
  ] as const) {
    const { code, stderr } = await enter(name, 2, "--league", league).ended;
    expect([code, stderr.split("\n")[1]]).toEqual([2, expect.stringContaining(`registration was rejected: ${reason}`)]);
  }
  expect(await operator("start", "lesson-1")).toMatchObject({ code: 0 });
  await served.line(/^lesson-1: completed$/);
  const late = enter("Cid", 3);
  await late.line(
    /no league of your games is open: lesson-1 is over\..* Waiting for the next league that is opened at http/,
  );
  expect(await operator("open", "lesson-2", "--like", "lesson-1")).toMatchObject({ code: 0 });
  await late.line(/registered as P03 in lesson-2/);
  late.signal("SIGINT");
  expect((await late.ended).code).toBe(130);
  for (const player of players) expect(player.stderr()).not.toMatch(/Waiting|lesson-2/);
});
