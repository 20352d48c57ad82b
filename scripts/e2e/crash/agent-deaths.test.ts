import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ResultsDocument } from "../../../league-manager/projections/results-document.ts";
import { agentsIn, cleanUp, eventually, kill, pidOf, processesIn } from "../../testing/processes.ts";
import { documentOf, FIRST_RESULT, LONG, RPS, run, type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** Kills each process of a league's agents whose arguments match, as soon as it has started. Returns a function that stops this. */
function killEach(test: TestLeague, isVictim: (args: readonly string[]) => boolean): () => void {
  const killed = new Set<number>();
  const killer = setInterval(() => {
    const victim = agentsIn(test.folder).find(({ args }) => isVictim(args));
    if (!victim || killed.has(victim.pid)) return;
    killed.add(victim.pid);
    kill(victim.pid, "SIGKILL");
  }, 20);
  return () => clearInterval(killer);
}

describe("league run when an agent ends unexpectedly", () => {
  const bots = ["random", "greedy", "counter"];
  let undisturbed: ResultsDocument;
  beforeAll(async () => {
    undisturbed = documentOf(await run(await testLeague(bots, LONG), "--json", "--quiet").ended);
    await cleanUp();
  });

  it.each([
    ["a player", "player/main.ts", "Player1"],
    ["a referee", "referee/main.ts", "referee 1"],
    ["the manager", "league-manager/main.ts", "league manager"],
  ])("restarts %s after a kill and ends with the results of an undisturbed run", async (_agent, script, name) => {
    const test = await testLeague(bots, LONG);
    const league = run(test, "--json");
    await league.line(FIRST_RESULT);
    kill(pidOf(test.folder, script), "SIGKILL");
    const ended = await league.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain(`${name}: was ended by SIGKILL; it is started again`);
    for (const { matches, status } of documentOf(ended).leagues) {
      expect(status).toBe("completed");
      expect(matches).toHaveLength(3);
      // No player is charged for the kill.
      expect(matches.map(({ termination }) => termination)).toEqual(["normal", "normal", "normal"]);
    }
    // A busy machine may need longer than the three seconds in which the matches of a referee wait for it; they are then played again with other seeds.
    if (!/referee REF01 (does not answer|refuses connections); /.test(ended.stderr))
      expect(documentOf(ended)).toEqual(undisturbed);
    expect(processesIn(test.folder)).toEqual([]);
  });

  it("restarts a player that was killed before it was ready", async () => {
    const source = `import { existsSync } from "node:fs";
console.log("loading");
while (!existsSync(new URL("go", import.meta.url))) await new Promise((resolve) => setTimeout(resolve, 20));
export default ({ legal }) => legal[0];
`;
    const test = await testLeague(["./slow.js", "cycle"], RPS, {
      files: { "slow.js": source },
      allow: { read: ["go"] },
    });
    const league = run(test);
    await league.line(/^Player1: loading/);
    kill(pidOf(test.folder, "player/main.ts", "Player1"), "SIGKILL");
    await league.line(/Player1: was ended by SIGKILL; it is started again/);
    writeFileSync(join(test.folder, "go"), "");
    const { code, stderr } = await league.ended;
    expect(code, stderr).toBe(0);
    expect(processesIn(test.folder)).toEqual([]);
  });

  it("restarts a player three times and then continues without it", async () => {
    const test = await testLeague(["./silent.ts", "cycle", "random", "greedy"], RPS, {
      files: { "silent.ts": "export default (turn) => new Promise(() => {});\n" },
      // The process is killed four times before the first match is decided. Each restart takes half a second, and several seconds on a slow machine.
      config: { timeouts: { join_ms: 2_000, move_ms: 8_000 } },
    });
    const league = run(test, "--json");
    await league.line(/^P01 registered/);
    const stopKilling = killEach(test, (args) => args.includes("Player1"));
    const ended = await league.ended;
    stopKilling();
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr.split("Player1: was ended by SIGKILL; it is started again")).toHaveLength(4);
    expect(ended.stderr).toContain("Player1: was ended by SIGKILL, after 3 restarts; the league continues without it");
    const [played] = documentOf(ended).leagues;
    expect(played?.matches).toHaveLength(6);
    for (const { roles, winner, termination } of played?.matches ?? []) {
      const players = Object.values(roles);
      if (!players.includes("P01")) expect(termination).toBe("normal");
      else expect(players.filter((id) => id !== "P01")).toEqual([winner]);
    }
    expect(processesIn(test.folder)).toEqual([]);
  });

  it("starts a league without a player whose bot hangs while it loads, and reports a league that has only one player", async () => {
    // Blocks the event loop without using the processor.
    const hung =
      "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);\nexport default ({ legal }) => legal[0];\n";
    const leagueOf = (...others: readonly string[]): Promise<TestLeague> =>
      testLeague(["./hung.ts", ...others], RPS, {
        files: { "hung.ts": hung },
        // The time for the other players to start.
        config: { timeouts: { registration_ms: 20_000 } },
      });
    const [three, two] = [await leagueOf("cycle", "random"), await leagueOf("cycle")];
    const [played, notStarted] = await Promise.all([run(three, "--json").ended, run(two, "--quiet").ended]);
    expect(played.code, played.stderr).toBe(0);
    expect(played.stderr).toContain("league rps starts without Player1");
    const [league] = documentOf(played).leagues;
    expect(league?.matches.map(({ roles }) => Object.values(roles).sort())).toEqual([["P02", "P03"]]);
    expect(notStarted.code).toBe(1);
    const absent = "Player1 did not register within 20 s (timeouts.registration_ms)";
    expect(notStarted.stderr).toContain(`rps cannot start: a league needs two players, and it has 1; ${absent}\n`);
    // A process of a bot ends at most 50 ms after its player (player/bot-process/guard.ts).
    for (const { folder } of [three, two]) {
      await eventually("the end of the hung bots", () => processesIn(folder).length === 0);
    }
  });

  it("restarts a referee three times and then ends with exit code 1", async () => {
    const test = await testLeague(
      ["random", "cycle"],
      [{ league_id: "slow", game: "rps.v1", options: { best_of: 99 } }],
    );
    const league = run(test);
    const stopKilling = killEach(test, (args) => args.some((arg) => arg.endsWith("referee/main.ts")));
    const { code, stderr } = await league.ended;
    stopKilling();
    expect(code, stderr).toBe(1);
    expect(stderr.split("referee 1: was ended by SIGKILL; it is started again")).toHaveLength(4);
    expect(stderr).toContain("referee 1 was ended by SIGKILL, after 3 restarts");
    expect(processesIn(test.folder)).toEqual([]);
  });
});
