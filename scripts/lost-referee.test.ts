import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Match } from "../league-manager/league/league.ts";
import { keptState } from "../league-manager/testing/kept-state.ts";
import {
  agentsIn,
  cleanUp,
  documentOf,
  eventually,
  kill,
  league,
  processesIn,
  type Running,
  runFolders,
  start,
  type TestLeague,
  testLeague,
} from "./testing.ts";

afterEach(cleanUp);

/** A bot that takes its time, so that a match is still under way when its referee is lost. */
const SLOW_BOT = `import { setTimeout } from "node:timers/promises";
export default async ({ legal, random }) => {
  await setTimeout(60);
  return random.pick(legal);
};
`;
const rps = (best_of: number) => [{ league_id: "rps", game: "rps.v1", options: { best_of } }];
const files = { "slow.ts": SLOW_BOT };
const bots = ["./slow.ts", "./slow.ts", "./slow.ts", "./slow.ts"];

const run = (test: TestLeague, ...flags: string[]): Running =>
  start("scripts/league.ts", ["run", test.file, "--seed", "7", "--json", ...flags]);

const refereeAt = (test: TestLeague, port: number): number =>
  agentsIn(test.folder).find(({ args }) => args[1]?.endsWith("referee/main.ts") && args.includes(String(port)))?.pid ??
  0;

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
    const test = await testLeague(bots.slice(0, 2), rps(75), { referees: 2, files });
    const running = run(test);
    await playing(test, "REF01");
    const sleeper = refereeAt(test, test.port + 1);
    kill(sleeper, "SIGSTOP");
    await running.line(/referee REF01 does not answer; its matches go to another/, 20_000);
    kill(sleeper, "SIGCONT");
    await running.line(/referee REF01 is back/, 20_000);
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const matches = documentOf(ended).leagues.flatMap((one) => one.matches);
    expect(matches.map((match) => match.termination)).toEqual(["normal"]);
    expect(epochsOf(test)).toEqual([2]);
    const log = readFileSync(join(runFolders(test)[0] ?? "", "logs", "Referee%201.log"), "utf8");
    // Told by the manager, or by its own result being refused: whichever comes first.
    expect(log).toMatch(/the match was given to another referee|the manager refused a result for good/);
    expect(processesIn(test.folder)).toEqual([]);
  }, 60_000);

  it("with no referee left the league waits and says so, and goes on with the first that comes", async () => {
    const test = await testLeague(bots.slice(0, 2), rps(75), { referees: 1, files });
    const running = run(test);
    await playing(test, "REF01");
    const only = refereeAt(test, test.port + 1);
    kill(only, "SIGSTOP");
    await running.line(/referee REF01 does not answer; no referee is left: the league waits/, 20_000);
    kill(only, "SIGCONT");
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    expect(documentOf(ended).leagues[0]?.matches).toMatchObject([{ termination: "normal", referee_id: "REF01" }]);
    expect(epochsOf(test)).toEqual([2]);
  }, 60_000);
});

describe("league run --resume", () => {
  it("goes on with the run that was killed, to the end that it would have had", async () => {
    const undisturbed = await testLeague(bots, rps(15), { referees: 2, files });
    const expected = documentOf(await run(undisturbed).ended);
    const test = await testLeague(bots, rps(15), { referees: 2, files });
    const first = run(test);
    await first.line(/\[2\/6\]$/, 20_000);
    first.signal("SIGKILL");
    await first.ended;
    await eventually("all agents to be gone", () => agentsIn(test.folder).length === 0);
    const resumed = await run(test, "--resume").ended;
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.stderr).toMatch(/^rps goes on: \d of 6 matches are played$/m);
    expect(documentOf(resumed)).toEqual(expected);
    expect(runFolders(test)).toHaveLength(1);
    const again = await league(["run", test.file, "--resume"]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("no unfinished run");
  }, 90_000);
});
