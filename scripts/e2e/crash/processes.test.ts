import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ResultsDocument } from "../../../league-manager/projections/results-document.ts";
import {
  agentsIn,
  callTool,
  cleanUp,
  eventually,
  kill,
  pidOf,
  processesIn,
  type Running,
  STACK_LINE,
  start,
} from "../../testing/processes.ts";
import {
  documentOf,
  FIRST_RESULT,
  LONG,
  RPS,
  run,
  runFolders,
  type TestLeague,
  testLeague,
} from "../../testing/test-league.ts";

afterEach(cleanUp);

describe("league run", () => {
  it.each([
    ["league manager", 0, "manager.port", "LEAGUE__MANAGER__PORT"],
    ["referee 1", 1, "referees.firstPort", "LEAGUE__REFEREES__FIRSTPORT"],
    ["Player2", 11, "playersFirstPort", "LEAGUE__PLAYERSFIRSTPORT"],
  ])(
    "names the port of the %s if it is in use, and its settings, and ends all agents",
    async (name, offset, field, variable) => {
      const test = await testLeague(["random", "cycle"], RPS);
      const otherServer = createServer();
      await new Promise<void>((resolve) => otherServer.listen(test.portAt(offset), "127.0.0.1", resolve));
      try {
        const { code, stdout, stderr } = await run(test).ended;
        expect({ code, stdout }, stderr).toEqual({ code: 1, stdout: "" });
        expect(stderr).toContain(
          `${name}: port ${test.portAt(offset)} on 127.0.0.1 is already in use; set another one as ${field} in the config, or with the environment variable ${variable}\n`,
        );
        expect(stderr).not.toMatch(STACK_LINE);
        expect(processesIn(test.folder)).toEqual([]);
      } finally {
        await new Promise((resolve) => otherServer.close(resolve));
      }
    },
  );

  it("plays one of two runs that are started together on the same ports, and rejects the other", async () => {
    const test = await testLeague(["random", "cycle"], RPS);
    // With --keep the first run occupies its ports until the second one has tried them.
    const both = [run(test, "--keep", "--json"), run(test, "--keep", "--json")];
    const rejected = await Promise.race(both.map(({ ended }) => ended));
    expect(rejected.code, rejected.stderr).toBe(1);
    expect(rejected.stderr).toContain(`league manager: port ${test.port} on 127.0.0.1 is already in use`);
    await eventually("the end of the first run", () =>
      runFolders(test).some((one) => readFileSync(join(one, "run.json"), "utf8").includes("completed")),
    );
    for (const league of both) league.signal("SIGINT");
    const ends = await Promise.all(both.map(({ ended }) => ended));
    const played = ends.filter(({ code }) => code === 130);
    expect(played.map((ended) => documentOf(ended).leagues[0]?.status)).toEqual(["completed"]);
    expect(processesIn(test.folder)).toEqual([]);
  });

  it.each([["SIGINT"], ["SIGTERM"]] as const)("ends all agents and exits with 130 after %s", async (signal) => {
    const test = await testLeague(["random", "./silent.js"], RPS, { referees: 2 });
    const silent = 'export default (turn) => { turn.log("asked"); return new Promise(() => {}); };';
    writeFileSync(join(test.folder, "silent.js"), silent);
    const league = run(test);
    await league.line(/asked/);
    expect(agentsIn(test.folder)).toHaveLength(5);
    league.signal(signal);
    const { code, stdout, stderr } = await league.ended;
    expect({ code, stdout }, stderr).toEqual({ code: 130, stdout: "" });
    expect(processesIn(test.folder)).toEqual([]);
  });

  it("exits with 130 and leaves no agent when it is interrupted before its agents are ready", async () => {
    const test = await testLeague(["random", "cycle"], LONG);
    const league = run(test);
    await eventually("the first agent", () => agentsIn(test.folder).length > 0);
    league.signal("SIGINT");
    const { code, stderr } = await league.ended;
    expect(code, stderr).toBe(130);
    expect(processesIn(test.folder)).toEqual([]);
  });

  it("leaves no agent when it is killed", async () => {
    const test = await testLeague(["random", "cycle"], LONG, { referees: 2 });
    const league = run(test);
    await league.line(FIRST_RESULT);
    league.signal("SIGKILL");
    await league.ended;
    await eventually("the end of all agents", () => agentsIn(test.folder).length === 0);
  });
});

describe("league run --keep", () => {
  it("prints its document once, even if the manager is killed and restarted after the end of the run", async () => {
    const test = await testLeague(["random", "cycle"], RPS);
    const league = run(test, "--json", "--keep");
    await eventually("the end of the run", () =>
      runFolders(test)
        .map((one) => join(one, "run.json"))
        .some((file) => existsSync(file) && readFileSync(file, "utf8").includes("completed")),
    );
    // All agents start with the files that shorten their start (shared/runtime/compile-cache.cjs).
    expect(agentsIn(test.folder).filter(({ args }) => !args.includes("--require"))).toEqual([]);
    const manager = pidOf(test.folder, "league-manager/main.ts");
    kill(manager, "SIGKILL");
    await eventually("a new manager that answers", async () => {
      const health = await fetch(`http://127.0.0.1:${test.port}/ready`).catch(() => null);
      const restarted = agentsIn(test.folder).find(({ args }) =>
        args.some((arg) => arg.endsWith("league-manager/main.ts")),
      );
      return health?.status === 200 && restarted !== undefined && restarted.pid !== manager;
    });
    league.signal("SIGINT");
    const ended = await league.ended;
    expect(ended.code, ended.stderr).toBe(130);
    expect(documentOf(ended).leagues).toHaveLength(1); // throws if there are two documents
    expect(ended.stderr).toContain("operator-token");
    expect(processesIn(test.folder)).toEqual([]);
  });
});

describe("agents that are started separately", () => {
  const url = (test: TestLeague): string => `http://127.0.0.1:${test.port}/mcp`;
  const player = (test: TestLeague, n: number): Running =>
    start("player/main.ts", [
      "--bot",
      n === 1 ? "random" : "cycle",
      "--name",
      `Player${n}`,
      "--port",
      String(test.portAt(9 + n)),
      "--manager",
      url(test),
      "--data",
      join(test.folder, "data"),
    ]);
  const referee = (test: TestLeague): Running =>
    start("referee/main.ts", [
      "--port",
      String(test.portAt(1)),
      "--manager",
      url(test),
      "--data",
      join(test.folder, "data"),
    ]);
  const manager = (test: TestLeague, ...more: string[]): Running =>
    start("league-manager/main.ts", ["--config", test.file, "--data", join(test.folder, "data"), ...more]);
  const ready = (port: number): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/ready`).then((response) => response.status);

  it("play a league to its end when the manager starts last, and exit cleanly after a signal", async () => {
    const test = await testLeague(["random", "cycle"], RPS);
    const agents = [player(test, 2), player(test, 1), referee(test)];
    for (const agent of agents) await agent.line(new RegExp(`no manager at ${url(test)} yet`));
    expect(await ready(test.portAt(1))).toBe(503);
    const last = manager(test);
    await last.line(/league rps is completed: 1\. Player\d 3, 2\. Player\d 0|league rps is completed: .*1, .*1/);
    for (const offset of [0, 1, 10, 11]) expect(await ready(test.portAt(offset))).toBe(200);
    for (const file of ["operator-token", "tokens/player-Player1", `tokens/referee-${test.portAt(1)}`]) {
      expect(statSync(join(test.folder, "data", file)).mode & 0o777).toBe(0o600);
    }
    const signals = ["SIGINT", "SIGTERM", "SIGINT", "SIGTERM"] as const;
    for (const [index, agent] of [...agents, last].entries()) {
      const signal = signals[index] ?? "SIGTERM";
      agent.signal(signal);
      const { code, stderr } = await agent.ended;
      expect(code, stderr).toBe(signal === "SIGINT" ? 130 : 0);
      expect(stderr).toMatch(/stopped\n$/);
    }
  });

  it("exit cleanly after SIGINT and SIGTERM while they wait for a manager", async () => {
    const test = await testLeague(["random"], RPS);
    const waiting = [
      [player(test, 1), "SIGINT", 130],
      [player(test, 2), "SIGTERM", 0],
      [referee(test), "SIGTERM", 0],
    ] as const;
    for (const [agent, signal, expected] of waiting) {
      await agent.line(/no manager at .* yet/);
      agent.signal(signal);
      const { code, stderr } = await agent.ended;
      expect(code, stderr).toBe(expected);
      expect(stderr).not.toMatch(STACK_LINE);
    }
  });

  it("start a league with any two players if the manager has --players 2", async () => {
    const test = await testLeague([], RPS);
    const leagueManager = manager(test, "--players", "2");
    await leagueManager.line(/league manager at/);
    const first = player(test, 1);
    await Promise.all([leagueManager.line(/player P01 registered: Player1/), first.line(/registered as P01 in rps/)]);
    await referee(test).line(/registered as REF01/);
    expect(leagueManager.stderr()).not.toContain("starts");
    player(test, 2);
    await leagueManager.line(/league rps starts: rps\.v1, 1 match$/);
    await leagueManager.line(/all leagues are completed/);
  });

  it("start a league after a call of start_league with the operator token only", async () => {
    const test = await testLeague([], RPS);
    const leagueManager = manager(test);
    await Promise.all([player(test, 1), player(test, 2), referee(test)].map((agent) => agent.line(/registered as/)));
    const token = readFileSync(join(test.folder, "data", "operator-token"), "utf8").trim();
    const playersToken = readFileSync(join(test.folder, "data", "tokens", "player-Player1"), "utf8").trim();
    for (const wrong of [undefined, "wrong", playersToken, `${token}x`]) {
      const rejected = await callTool(test.port, "start_league", { league_id: "rps" }, wrong);
      expect(rejected).toMatchObject({ isError: true, value: { error_code: "L004" } });
    }
    expect(leagueManager.stderr()).not.toContain("league rps starts");
    const unknown = await callTool(test.port, "start_league", { league_id: "none" }, token);
    expect(unknown).toMatchObject({ isError: true, value: { error_code: "L005" } });
    const started = await callTool(test.port, "start_league", { league_id: "rps" }, token);
    expect(started).toEqual({ isError: false, value: { status: "STARTED", league_id: "rps", matches: 1 } });
    await leagueManager.line(/league rps is completed/);
    const { value } = await callTool(test.port, "get_standings", { league_id: "rps" });
    const standings = value.standings as ResultsDocument["leagues"][number]["standings"];
    expect(standings.map((row) => row.played)).toEqual([1, 1]);
    expect(leagueManager.stderr()).not.toContain(token);
  });
});
