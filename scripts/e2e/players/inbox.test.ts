import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startPlayer } from "../../../player/service.ts";
import { startTestLeague, type TestLeague, type TestPlace, type TestPlayer } from "../../testing/in-process-league.ts";
import { inboxProgram, turnsProgram } from "../../testing/python-programs.ts";

let league: TestLeague | null = null;
afterEach(async () => {
  await league?.stop();
  league = null;
});

const LEAGUES = [
  { league_id: "rps", game: "rps.v1", options: { best_of: 9 } },
  { league_id: "chess", game: "chess.v1", options: { max_plies: 40 } },
];

/** A built-in bot whose player polls its inbox. */
const pulling = (name: string, bot: string): TestPlayer => ({
  name,
  start: ({ manager, dataFolder }: TestPlace) =>
    startPlayer({ bot, name, ports: [0], manager, dataFolder, pull: true }, silentProcess(name)),
});

/** Plays the leagues with two referees. Resolves with the results of all matches. */
async function play(players: readonly TestPlayer[], leagues = LEAGUES) {
  league = await startTestLeague({ leagues, players, referees: 2, seed: sha256Hex("inbox") });
  const { leagues: played } = await league.completed;
  await league.stop();
  return played.flatMap(({ matches }) => matches.map(({ match_id, winner, reason }) => ({ match_id, winner, reason })));
}

describe("players that poll their inboxes", () => {
  it("have the results of the same players that are called", async () => {
    const called = [
      { name: "Ann", bot: "random" },
      { name: "Bob", bot: "counter" },
      { name: "Eve", bot: "cycle" },
    ];
    const pulled = called.map(({ name, bot }) => pulling(name, bot));
    expect(await play(pulled)).toEqual(await play(called));
  });

  /** The lines of a program that are not empty. */
  const linesOf = (program: string): readonly string[] => program.split("\n").filter((line) => line.trim() !== "");

  it("need ten lines of Python that call the tools, and about twenty that poll", () => {
    expect(linesOf(turnsProgram).length).toBeLessThanOrEqual(10);
    expect(linesOf(inboxProgram).length).toBeLessThanOrEqual(24);
  });

  it.each([
    ["that calls the tools", turnsProgram, "json, random, sys, urllib.request", /^rps is over: rank [12] of 2\n$/],
    ["that polls", inboxProgram, "json, random, sys, time, urllib.request, uuid", /^registered as P01\n$/],
  ])("can be the Python program of the documents %s", async (_which, program, imported, output) => {
    let printed = "";
    expect(program.match(/^import .*/gm)).toEqual([`import ${imported}`]);
    const start = async ({ manager, name, dataFolder }: TestPlace): Promise<RunningAgent> => {
      const file = join(dataFolder, `${name}.py`);
      writeFileSync(file, program);
      const python = requireProgram(["/usr/bin/python3"], "python3");
      const child = spawn(python, [file, manager, name], { stdio: ["ignore", "pipe", "inherit"] });
      child.stdout.on("data", (text) => {
        printed += text;
      });
      const ended = once(child, "close");
      return {
        async stop() {
          if (program === inboxProgram) child.kill(); // the other program ends by itself
          await ended;
        },
      };
    };
    const players = [
      { name: "Py", start },
      { name: "Random", bot: "random" },
    ];
    const results = await play(players, LEAGUES.slice(0, 1));
    expect(results).toMatchObject([{ match_id: "R1M1", reason: expect.stringMatching(/rounds|draw/) }]);
    expect(printed).toMatch(output);
  });
});
