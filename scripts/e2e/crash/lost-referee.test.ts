import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Match } from "../../../league-manager/league/league.ts";
import { storedState } from "../../../league-manager/testing/stored-state.ts";
import {
  agentsIn,
  cleanUp,
  eventually,
  kill,
  league,
  pidOf,
  processesIn,
  type Running,
  start,
} from "../../testing/processes.ts";
import { documentOf, runFolders, type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** The source of a bot that makes no move before `releaseBots` in the matches for which the expression `waitsIn` is true. These matches are still running when their referee or their run is killed. */
const waitingBot = (waitsIn: string): string => `import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
const go = new URL("go", import.meta.url);
export default () => {
  let waits = false;
  return {
    start({ matchId }) { waits = ${waitsIn}; },
    async choose({ legal, random, log }) {
      while (waits && !existsSync(go)) await setTimeout(20);
      return random.pick(legal);
    },
  };
};
`;
const releaseBots = (test: TestLeague): void => writeFileSync(join(test.folder, "go"), "");

const RPS = [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }];
/** A league of waiting bots. The time for a move is long, so that no player loses a match because its bot waits. */
const leagueOf = (players: number, referees: number, waitsIn = "true"): Promise<TestLeague> =>
  testLeague(Array(players).fill("./waiting.ts"), RPS, {
    referees,
    files: { "waiting.ts": waitingBot(waitsIn) },
    allow: { read: ["go"] },
    config: { timeouts: { move_ms: 120_000 } },
  });

const run = (test: TestLeague, ...flags: string[]): Running =>
  start("scripts/league.ts", ["run", test.file, "--seed", "7", "--json", ...flags]);

const refereeAt = (test: TestLeague, port: number): number => pidOf(test.folder, "referee/main.ts", String(port));

const matchesOf = async (test: TestLeague): Promise<readonly Match[]> => {
  const { leagues } = await storedState(runFolders(test)[0] ?? "", ["rps"]);
  const league = leagues.get("rps");
  return league?.rounds.flatMap(({ matches }) => matches) ?? [];
};

/** Waits until a match is assigned to a referee. */
const awaitMatch = (test: TestLeague, refereeId: string): Promise<void> =>
  eventually(`${refereeId} to have a match`, async () => {
    if (runFolders(test).length === 0) return false;
    try {
      return (await matchesOf(test)).some((match) => match.refereeId === refereeId && match.status === "assigned");
    } catch {
      return false; // the store does not exist yet
    }
  });

/** Returns the epochs of the completed matches. */
const epochsOf = async (test: TestLeague): Promise<readonly number[]> =>
  (await matchesOf(test)).flatMap(({ outcome, epoch }) => (outcome ? [epoch] : []));

describe("a league whose referee stops answering during a match", () => {
  it("assigns the match to another referee under a new epoch, notifies the first referee and charges no player", async () => {
    const test = await leagueOf(2, 2);
    const running = run(test);
    await awaitMatch(test, "REF01");
    const stopped = refereeAt(test, test.portAt(1));
    kill(stopped, "SIGSTOP");
    await running.line(/referee REF01 does not answer; its matches are assigned to other referees if/);
    await eventually("the new epoch of the match", async () =>
      (await matchesOf(test)).some(({ epoch, refereeId }) => epoch === 2 && refereeId === "REF02"),
    );
    kill(stopped, "SIGCONT");
    await running.line(/referee REF01 answers again/);
    const log = join(runFolders(test)[0] ?? "", "logs", "Referee%201.log");
    const isNotified = (): boolean => readFileSync(log, "utf8").includes("the match was assigned to another referee");
    await eventually("the notification of the referee", isNotified);
    releaseBots(test);
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const matches = documentOf(ended).leagues.flatMap((one) => one.matches);
    expect(matches.map((match) => match.termination)).toEqual(["normal"]);
    expect(await epochsOf(test)).toEqual([2]);
    expect(processesIn(test.folder)).toEqual([]);
  });

  it("prints a notice and waits if there is no other referee, and continues when the referee answers again", async () => {
    const test = await leagueOf(2, 1);
    const running = run(test);
    await awaitMatch(test, "REF01");
    const only = refereeAt(test, test.portAt(1));
    kill(only, "SIGSTOP");
    await running.line(/referee REF01 does not answer; no referee is left: the league waits/);
    kill(only, "SIGCONT");
    await running.line(/referee REF01 answers again/);
    releaseBots(test);
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(documentOf(ended).leagues[0]?.matches).toMatchObject([{ termination: "normal", referee_id: "REF01" }]);
    expect(await epochsOf(test)).toEqual([1]);
  });
});

describe("league run --resume", () => {
  it("shows that the league is paused and how to continue it, also with the data folder of all runs", async () => {
    const test = await leagueOf(4, 2, '!matchId.startsWith("R1")');
    const operator = (...args: string[]) => league([...args, "rps", "--data", join(test.folder, "data")]);
    const first = run(test);
    await first.line(/\[2\/6\]$/);
    expect(await operator("pause")).toMatchObject({ code: 0, stderr: "" });
    first.signal("SIGKILL");
    await first.ended;
    await eventually("the end of all agents", () => agentsIn(test.folder).length === 0);
    releaseBots(test);
    const resumed = run(test, "--resume");
    await resumed.line(/^rps is paused \(2 of 6 matches are completed\); continue it with: .* resume rps --data \S/);
    expect(await operator("resume")).toMatchObject({ code: 0, stdout: "rps continues\n" });
    const { code, stderr } = await resumed.ended;
    expect(code, stderr).toBe(0);
  });

  it("ends a killed run with the results of an undisturbed run", async () => {
    const undisturbed = await leagueOf(4, 2, "false");
    const expected = documentOf(await run(undisturbed).ended);
    const test = await leagueOf(4, 2, '!matchId.startsWith("R1")');
    const first = run(test);
    await first.line(/\[2\/6\]$/);
    first.signal("SIGKILL");
    await first.ended;
    await eventually("the end of all agents", () => agentsIn(test.folder).length === 0);
    releaseBots(test);
    const resumed = await run(test, "--resume").ended;
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.stderr).toMatch(/^rps continues: 2 of 6 matches are completed$/m);
    expect(documentOf(resumed)).toEqual(expected);
    expect(runFolders(test)).toHaveLength(1);
    const again = await league(["run", test.file, "--resume"]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("no unfinished run");
  });
});
