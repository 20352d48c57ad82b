import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Match } from "../../../league-manager/league/league.ts";
import { keptState } from "../../../league-manager/testing/kept-state.ts";
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

/** A bot that makes no move in these matches before `letGo`, so that they are under way when their referee or their run is lost. */
const heldBot = (isHeld: string): string => `import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
const go = new URL("go", import.meta.url);
export default () => {
  let isHeld = false;
  return {
    start({ matchId }) { isHeld = ${isHeld}; },
    async choose({ legal, random, log }) {
      while (isHeld && !existsSync(go)) await setTimeout(20);
      return random.pick(legal);
    },
  };
};
`;
const letGo = (test: TestLeague): void => writeFileSync(join(test.folder, "go"), "");

const RPS = [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }];
/** A league of so many of these bots. No player is to lose a match because it was held. */
const leagueOf = (players: number, referees: number, isHeld = "true"): Promise<TestLeague> =>
  testLeague(Array(players).fill("./held.ts"), RPS, {
    referees,
    files: { "held.ts": heldBot(isHeld) },
    config: { timeouts: { move_ms: 120_000 } },
  });

const run = (test: TestLeague, ...flags: string[]): Running =>
  start("scripts/league.ts", ["run", test.file, "--seed", "7", "--json", ...flags]);

const refereeAt = (test: TestLeague, port: number): number => pidOf(test.folder, "referee/main.ts", String(port));

const matchesOf = (test: TestLeague): readonly Match[] => {
  const league = keptState(runFolders(test)[0] ?? "", ["rps"]).leagues.get("rps");
  return league?.rounds.flatMap(({ matches }) => matches) ?? [];
};

/** Waits until a referee has begun a match. */
const playing = (test: TestLeague, refereeId: string): Promise<void> =>
  eventually(`${refereeId} to have a match`, () => {
    if (runFolders(test).length === 0) return false;
    try {
      return matchesOf(test).some((match) => match.refereeId === refereeId && match.status === "assigned");
    } catch {
      return false; // the store is not there yet
    }
  });

const epochsOf = (test: TestLeague): readonly number[] =>
  matchesOf(test).flatMap(({ outcome, epoch }) => (outcome ? [epoch] : []));

describe("a referee that is lost in the middle of a match", () => {
  it("loses it to another under a new epoch; when it wakes it stops asking, and nobody is charged", async () => {
    const test = await leagueOf(2, 2);
    const running = run(test);
    await playing(test, "REF01");
    const sleeper = refereeAt(test, test.port + 1);
    kill(sleeper, "SIGSTOP");
    await running.line(/referee REF01 does not answer; its matches go to another/, 20_000);
    kill(sleeper, "SIGCONT");
    await running.line(/referee REF01 is back/, 20_000);
    const log = join(runFolders(test)[0] ?? "", "logs", "Referee%201.log");
    const isTold = (): boolean => readFileSync(log, "utf8").includes("the match was given to another referee");
    await eventually("the referee to be told", isTold);
    letGo(test);
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const matches = documentOf(ended).leagues.flatMap((one) => one.matches);
    expect(matches.map((match) => match.termination)).toEqual(["normal"]);
    expect(epochsOf(test)).toEqual([2]);
    expect(processesIn(test.folder)).toEqual([]);
  }, 60_000);

  it("with no referee left the league waits and says so, and goes on with the first that comes", async () => {
    const test = await leagueOf(2, 1);
    const running = run(test);
    await playing(test, "REF01");
    const only = refereeAt(test, test.port + 1);
    kill(only, "SIGSTOP");
    await running.line(/referee REF01 does not answer; no referee is left: the league waits/, 20_000);
    kill(only, "SIGCONT");
    letGo(test);
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(documentOf(ended).leagues[0]?.matches).toMatchObject([{ termination: "normal", referee_id: "REF01" }]);
    expect(epochsOf(test)).toEqual([2]);
  }, 60_000);
});

describe("league run --resume", () => {
  it("plays the run that was killed to the end that it would have had", async () => {
    const undisturbed = await leagueOf(4, 2, "false");
    const expected = documentOf(await run(undisturbed).ended);
    const test = await leagueOf(4, 2, '!matchId.startsWith("R1")');
    const first = run(test);
    await first.line(/\[2\/6\]$/, 20_000);
    first.signal("SIGKILL");
    await first.ended;
    await eventually("all agents to be gone", () => agentsIn(test.folder).length === 0);
    letGo(test);
    const resumed = await run(test, "--resume").ended;
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.stderr).toMatch(/^rps is resumed: 2 of 6 matches are played$/m);
    expect(documentOf(resumed)).toEqual(expected);
    expect(runFolders(test)).toHaveLength(1);
    const again = await league(["run", test.file, "--resume"]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("no unfinished run");
  }, 90_000);
});
